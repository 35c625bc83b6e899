/** The rows that a row leads to, as SQL: what conditions and orders look through. They are the rows that the relation shows. */
import { reachable, visible } from '../access/access';
import type { Condition } from '../access/conditions';
import type { Context } from '../context';
import { childrenOf, fieldOf, fieldsOf, ofKind, type Entity, type FieldMeta, type Lazy } from '../model/fields';
import type { Only } from '../../contract/facts';
import { perEntity } from '../model/perentity';
import { expression } from './expressions';
import { resourceOf } from '../model/registry';

/** The rows of a relation are those with a key among those that row `outer` has: told apart so, the former are read once, not for every such row. */
interface Path {
  key(outer: string): string;
  /** `SELECT … FROM …`: the keys of rows `inner` of the target. */
  keys(inner: string): string;
}

export interface Relative extends Path {
  /** The GraphQL field that shows the rows. */
  name: string;
  target: Lazy;
  many: boolean;
  /** What they are, in lower case. */
  noun: string;
  /** The one interface that has it. */
  only?: Only;
  shown(context: Context): Condition[];
}

/** To be called once all resources are loaded. */
export const relativesOf = perEntity((entity): readonly Relative[] => [...referred(entity), ...below(entity)]);

const tableOf = (target: Lazy) => `"${resourceOf(target())!.table}"`;

/** Rows are the same day's, for example, where all of these columns are equal. */
const shared = (columns: readonly string[], table: string): Path => {
  const values = (alias: string) => columns.map((column) => `${alias}."${column}"`).join(', ');
  return { key: (outer) => `(${values(outer)})`, keys: (inner) => `SELECT ${values(inner)} FROM ${table} ${inner}` };
};

/** From a row with a reference, or with a set of ids, to what it names. */
function forth(entity: Entity, { target, column, link, through, shares, sql }: FieldMeta): Path {
  const table = tableOf(target!);
  if (shares) return shared(shares, table);
  if (link) {
    const { table: links, own, other, via = 'id' } = link;
    return {
      key: (outer) => `${outer}."${via}"`,
      keys: (inner) => `SELECT l."${own}" FROM "${links}" l JOIN ${table} ${inner} ON ${inner}."id" = l."${other}"${ofKind(link, 'l')}`,
    };
  }
  if (through)
    return {
      key: (outer) => `${outer}."${through.via}"`,
      keys: (inner) => `SELECT x."id" FROM "${through.table}" x JOIN ${table} ${inner} ON ${inner}."id" = x."${through.column}"`,
    };
  if (column) return { key: (outer) => `${outer}."${column}"`, keys: (inner) => `SELECT ${inner}."id" FROM ${table} ${inner}` };
  // Worked out once for each row, wherever PostgreSQL puts it.
  const pairs = `SELECT o."id" AS "of", unnest(${sql!('o')}) AS "id" FROM "${resourceOf(entity)!.table}" o`;
  return {
    key: (outer) => `${outer}."id"`,
    keys: (inner) => `WITH v AS MATERIALIZED (${pairs}) SELECT v."of" FROM v JOIN ${table} ${inner} ON ${inner}."id" = v."id"`,
  };
}

/** From what the field `by` names to the rows that it names it in. */
function back(target: Lazy, { column, link, through, shares, name }: FieldMeta, key: (outer: string) => string): Path {
  const table = tableOf(target);
  if (shares) return shared(shares, table);
  if (column) return { key, keys: (inner) => `SELECT ${inner}."${column}" FROM ${table} ${inner}` };
  if (through) {
    const { table: middle, via, column: named } = through;
    return { key, keys: (inner) => `SELECT x."${named}" FROM "${middle}" x JOIN ${table} ${inner} ON ${inner}."${via}" = x."id"` };
  }
  if (!link) throw new Error(`rows cannot be found by ${name}`);
  const { table: links, own, other, via = 'id' } = link;
  return {
    key,
    keys: (inner) => `SELECT l."${other}" FROM "${links}" l JOIN ${table} ${inner} ON ${inner}."${via}" = l."${own}"${ofKind(link, 'l')}`,
  };
}

const referred = (entity: Entity): Relative[] =>
  fieldsOf(entity).flatMap((field): Relative[] => {
    if (!field.relation) return [];
    const { target, object } = field as Required<typeof field>;
    return [
      {
        name: object,
        target,
        many: field.relation.many,
        noun: field.label.toLowerCase(),
        only: resourceOf(target())!.only ?? field.only,
        ...forth(entity, field),
        shown: (context) => reachable(target(), context),
      },
    ];
  });

const below = (entity: Entity): Relative[] =>
  childrenOf(entity).map(({ name, target, by, key }) => ({
    name,
    target,
    many: true,
    noun: name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    ...back(target, fieldOf(target(), by), (outer) => expression(fieldOf(entity, key), outer)),
    shown: (context) => visible(target(), context),
  }));
