/**
 * Joins of a grouped statement to referenced rows: one per path of references, shared by all keys
 * and statistics.
 */
import { referencedRowConditions } from '../access/access';
import type { SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import type { EntityField } from '../declare/fields';
import { resourceOf } from '../declare/registry';
import { fieldSqlExpression } from '../sql/expressions';

export class ReferenceJoins {
  readonly joins: SqlCondition[] = [];
  private readonly aliases = new Map<string, string>();

  constructor(private readonly context: Context) {}

  /**
   * Joins the row at the end of a path of references, unless already joined, and returns its table
   * alias. An empty path leads to the grouped row itself. A row hidden from the viewer counts as
   * missing.
   */
  ensureJoined(path: readonly EntityField[]): string {
    const referenceField = path.at(-1);

    if (!referenceField) return 't';
    const dottedPath = path.map(({ name }) => name).join('.');
    const existingAlias = this.aliases.get(dottedPath);

    if (existingAlias) return existingAlias;
    const outerAlias = this.ensureJoined(path.slice(0, -1));
    const alias = `k${this.aliases.size}`;

    this.aliases.set(dottedPath, alias);
    const target = referenceField.target!();
    const visibilityConditions = referencedRowConditions(target, this.context);

    this.joins.push((_alias, bind) => {
      const visibilitySql = visibilityConditions
        .map((condition) => ` AND ${condition(alias, bind)}`)
        .join('');

      return `LEFT JOIN "${resourceOf(target)!.table}" ${alias}
        ON ${alias}."id" = ${fieldSqlExpression(referenceField, outerAlias)}${visibilitySql}`;
    });

    return alias;
  }
}

/**
 * SQL of the value by which rows are grouped. An omitted choice, which REST stores as an empty
 * string, is null.
 */
export function groupingValueSql(field: EntityField, alias: string): string {
  const value = fieldSqlExpression(field, alias);

  return field.enum && field.allowNull && field.allowBlank ? `NULLIF(${value}, '')` : value;
}
