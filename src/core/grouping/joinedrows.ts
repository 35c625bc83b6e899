/** Rows that references lead to from the rows of a grouping, each joined once however many keys and values use it. */
import { reachable } from '../access/access';
import type { Condition } from '../access/conditions';
import type { Context } from '../context';
import type { FieldMeta } from '../model/fields';
import { resourceOf } from '../model/registry';
import { expression } from '../sql/expressions';

export class JoinedRows {
  readonly joins: Condition[] = [];
  /** By their paths. */
  private readonly aliases = new Map<string, string>();

  constructor(private readonly context: Context) {}

  /** The alias of the row at the end of a path; a row that the viewer may not look at is as if there were none. */
  at(path: readonly FieldMeta[]): string {
    const reference = path.at(-1);
    if (!reference) return 't';
    const key = path.map(({ name }) => name).join('.');
    const known = this.aliases.get(key);
    if (known) return known;
    const outer = this.at(path.slice(0, -1));
    const alias = `k${this.aliases.size}`;
    this.aliases.set(key, alias);
    const target = reference.target!();
    const shown = reachable(target, this.context);
    this.joins.push((_alias, bind) => {
      const also = shown.map((condition) => ` AND ${condition(alias, bind)}`).join('');
      return `LEFT JOIN "${resourceOf(target)!.table}" ${alias} ON ${alias}."id" = ${expression(reference, outer)}${also}`;
    });
    return alias;
  }
}

/** A choice that REST left blank is none. */
export function plainValue(field: FieldMeta, alias: string): string {
  const value = expression(field, alias);
  return field.enum && field.null && field.blank ? `NULLIF(${value}, '')` : value;
}
