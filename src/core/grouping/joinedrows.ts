/** The joins of a grouped statement to referenced rows, one per relation path, shared by all keys and statistics. */
import { reachable } from '../access/access';
import type { Condition } from '../access/conditions';
import type { Context } from '../context';
import type { FieldMeta } from '../model/fields';
import { resourceOf } from '../model/registry';
import { expression } from '../sql/expressions';

export class JoinedRows {
  readonly joins: Condition[] = [];
  /** Table aliases by relation path. */
  private readonly aliases = new Map<string, string>();

  constructor(private readonly context: Context) {}

  /** The table alias of the row at the end of a relation path. Rows that are hidden from the viewer count as absent. */
  at(path: readonly FieldMeta[]): string {
    const reference = path.at(-1);
    if (!reference) return 't';
    const key = path.map(({ name }) => name).join('.');
    const existingAlias = this.aliases.get(key);
    if (existingAlias) return existingAlias;
    const outer = this.at(path.slice(0, -1));
    const alias = `k${this.aliases.size}`;
    this.aliases.set(key, alias);
    const target = reference.target!();
    const visibility = reachable(target, this.context);
    this.joins.push((_alias, bind) => {
      const visibilitySql = visibility.map((condition) => ` AND ${condition(alias, bind)}`).join('');
      return `LEFT JOIN "${resourceOf(target)!.table}" ${alias} ON ${alias}."id" = ${expression(reference, outer)}${visibilitySql}`;
    });
    return alias;
  }
}

/** SQL of a field's value for grouping: null for a choice that REST stored as an empty string. */
export function plainValue(field: FieldMeta, alias: string): string {
  const value = expression(field, alias);
  return field.enum && field.null && field.blank ? `NULLIF(${value}, '')` : value;
}
