/** A `having` → a condition on the columns of groups. */
import { all, any, not, type Condition } from '../access/conditions';
import { badArgument } from '../model/errors';
import { fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { MAX_CONDITIONS, MAX_NESTING, operation, type Given } from '../sql/where';
import { handleOf } from './facts';
import type { Values, Work } from './values';

type Having = Record<string, Given>;

class Reader {
  private conditions = 0;

  constructor(
    private readonly entity: Entity,
    private readonly values: Values,
  ) {}

  read(having: Having, path: string, nesting: number): Condition {
    if (nesting > MAX_NESTING) throw badArgument(path, `Conditions are nested deeper than ${MAX_NESTING} levels.`);
    const found = Object.entries(having).flatMap(([name, value]): Condition[] => {
      if (value == null) return [];
      const place = `${path}.${name}`;
      const each = (list: Having[]) => list.map((one, index) => this.read(one, `${place}[${index}]`, nesting + 1));
      if (name === 'and') return each(value);
      if (name === 'or') return [any(each(value))];
      if (name === 'not') return [not(this.read(value, place, nesting + 1))];
      if (name === 'count') return this.on(this.values.count(), 'integer', value, place);
      if (name === 'weightedCount') return this.on(this.values.weightedCount(), 'decimal', value, place);
      return Object.entries(value as Having).flatMap(([handle, filter]) =>
        filter == null ? [] : this.on(columnOf(this.values, name, handle), this.kindOf(name, handle), filter, `${place}.${handle}`),
      );
    });
    return all(found);
  }

  private kindOf(name: string, handle: string): FieldMeta['kind'] {
    if (name === 'countDistinct') return 'integer';
    return name === 'min' || name === 'max' ? fieldsOf(this.entity).find((field) => handleOf(field) === handle)!.kind : 'decimal';
  }

  private on(column: string, kind: FieldMeta['kind'], filter: Having, path: string): Condition[] {
    const field = { name: column, column, kind } as FieldMeta;
    return Object.entries(filter).flatMap(([operator, value]) => {
      if (operator === 'mode' || value === undefined) return [];
      this.conditions += 1;
      if (this.conditions > MAX_CONDITIONS) throw badArgument('having', `There are more than ${MAX_CONDITIONS} conditions.`);
      return operation(field, operator, value, false, `${path}.${operator}`) ?? [];
    });
  }
}

export const columnOf = (values: Values, name: string, handle: string): string =>
  name === 'median' ? values.median(handle) : values.work(name as Work, handle);

export const having = (entity: Entity, given: Having | null | undefined, values: Values): Condition | undefined =>
  given ? new Reader(entity, values).read(given, 'having', 0) : undefined;
