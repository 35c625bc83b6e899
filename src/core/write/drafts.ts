/** The rows of one mutation before they are written, each with its place in the input. A tree becomes a list, parents before children. */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { childrenOf, fieldOf, fieldsOf, type ChildMeta, type Entity, type FieldMeta } from '../model/fields';
import { MAX_ROWS } from '../model/limits';
import type { Path } from '../model/mistakes';
import { rowIdOf } from '../model/node';
import { resourceOf } from '../model/registry';
import type { Values } from '../model/hooks';

export interface Draft {
  readonly entity: Entity;
  readonly path: Path;
  readonly input: Values;
  /** Of a row that is changed. */
  id?: number;
  /** The input with the rows below it and, of a part that is there already, its `id`. */
  readonly whole?: Values;
  /** The row that it hangs below, if that is written in the same mutation, and the field that is to name it. */
  readonly above?: { readonly draft: Draft; readonly by: string };
  readonly depth: number;
  /** What a row that is changed holds now of the fields that must be unique. */
  held?: Row;
}

/** The children that can be made together with a row: owned ones that name it. */
export const creatableBelow = (entity: Entity): readonly ChildMeta[] =>
  childrenOf(entity).filter(({ target, by, key, readOnly }) => {
    const { owned, fact } = resourceOf(target())!;
    return owned && !readOnly && fact.create !== undefined && key === 'id' && !fieldOf(target(), by).readOnly;
  });

/** A reference by its number, if it is the `nodeId` of a row of the right type; as it is otherwise, which validation reports. */
function numbered({ target }: FieldMeta, value: unknown): unknown {
  if (!target || value == null) return value;
  const number = (id: unknown) => String(rowIdOf(target().name, id) ?? id);
  return Array.isArray(value) ? value.map(number) : number(value);
}

const ownValues = (entity: Entity, input: Values): Values =>
  Object.fromEntries(
    fieldsOf(entity).flatMap((field) =>
      field.readOnly || input[field.name] === undefined ? [] : [[field.name, numbered(field, input[field.name])]],
    ),
  );

const childrenIn = (input: Values, { name }: ChildMeta) => (input[name] ?? []) as Values[];

export const rowsIn = (entity: Entity, input: Values): number =>
  creatableBelow(entity).reduce(
    (count, child) => childrenIn(input, child).reduce((sum, below) => sum + rowsIn(child.target(), below), count),
    1,
  );

export function draftsOf(entity: Entity, input: Values, path: Path, above?: Draft['above']): Draft[] {
  const draft: Draft = { entity, path, input: ownValues(entity, input), whole: input, above, depth: above ? above.draft.depth + 1 : 0 };
  const below = creatableBelow(entity).flatMap((child) =>
    childrenIn(input, child).flatMap((values, index) =>
      draftsOf(child.target(), values, [...path, child.name, String(index)], { draft, by: child.by }),
    ),
  );
  return [draft, ...below];
}

export const changeOf = (entity: Entity, id: number, input: Values, path: Path): Draft => ({
  entity,
  path,
  input: ownValues(entity, input),
  id,
  depth: 0,
});

export function limitRows(count: number, argument: string): void {
  if (count > MAX_ROWS) throw badArgument(argument, `A mutation writes ${MAX_ROWS} rows at most; these are ${count}.`);
}

/** Drafts that one statement can write: those of a type at the same depth, parents first. */
export function levelsOf(drafts: readonly Draft[]): Draft[][] {
  const levels = new Map<string, Draft[]>();
  for (const draft of drafts) {
    const key = `${draft.depth} ${draft.entity.name}`;
    levels.set(key, [...(levels.get(key) ?? []), draft]);
  }
  return [...levels.values()].sort(([a], [b]) => a!.depth - b!.depth);
}

export function withDefaults(entity: Entity, input: Values, { timeZone, api }: Pick<Context, 'timeZone' | 'api'>): Values {
  const values: Values = { ...input };
  for (const field of fieldsOf(entity))
    if (field.hasDefault && values[field.name] === undefined)
      if (field.byTriggerInGraphQL && api === 'graphql') values[field.name] = null;
      else values[field.name] = typeof field.default === 'function' ? field.default(timeZone) : field.default;
    else if (field.blank && !field.null && values[field.name] === undefined) values[field.name] = '';
  return values;
}
