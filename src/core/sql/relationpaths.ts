/** Translates paths of relations to SQL, for conditions on related rows. Only rows that the viewer can see are considered. */
import { referenceableRowConditions, visibleRowConditions } from '../access/access';
import type { SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import { childrenOf, fieldOf, fieldsOf, type Entity, type EntityField, type Thunk } from '../model/fields';
import { linkDiscriminatorCondition } from '../model/linktable';
import type { InterfaceName } from '../../contract/metadata';
import { memoizePerEntity } from '../model/memoize';
import { fieldSqlExpression, linkTableOf } from './expressions';
import { resourceOf } from '../model/registry';

/** SQL of a relation as a semi-join, `outerKeySql IN (innerKeysSql)`. PostgreSQL reads the related rows once instead of once per row. */
interface SemiJoin {
  outerKeySql(outerAlias: string): string;
  /** Returns a `SELECT … FROM …` of the keys of the related rows, whose table has the alias `innerAlias`. */
  innerKeysSql(innerAlias: string): string;
}

export interface Relation extends SemiJoin {
  name: string;
  target: Thunk;
  isToMany: boolean;
  /** The API (GraphQL or REST) that has the relation; absent if both have it. */
  exclusiveTo?: InterfaceName;
  visibleConditions(context: Context): SqlCondition[];
}

/** Returns the relations of an entity. Call it only after all resources are loaded. */
export const relationsOf = memoizePerEntity((entity): readonly Relation[] => [...referenceRelations(entity), ...childRelations(entity)]);

const quotedTable = (target: Thunk) => `"${resourceOf(target())!.table}"`;

/** Returns the semi-join of a computed reference between rows with equal values in several columns, such as those of the same day. */
const sharedColumnsSemiJoin = (columns: readonly string[], table: string): SemiJoin => {
  const values = (alias: string) => columns.map((column) => `${alias}."${column}"`).join(', ');
  return {
    outerKeySql: (outerAlias) => `(${values(outerAlias)})`,
    innerKeysSql: (innerAlias) => `SELECT ${values(innerAlias)} FROM ${table} ${innerAlias}`,
  };
};

function referenceSemiJoin(entity: Entity, field: EntityField): SemiJoin {
  const { target, column, matchingColumns, sql } = field;
  const table = quotedTable(target!);
  if (matchingColumns) return sharedColumnsSemiJoin(matchingColumns, table);
  if (column)
    return {
      outerKeySql: (outerAlias) => `${outerAlias}."${column}"`,
      innerKeysSql: (innerAlias) => `SELECT ${innerAlias}."id" FROM ${table} ${innerAlias}`,
    };
  const link = linkTableOf(field);
  if (link) {
    const { table: links, ownColumn, otherColumn, keyColumn = 'id' } = link;
    return {
      outerKeySql: (outerAlias) => `${outerAlias}."${keyColumn}"`,
      innerKeysSql: (innerAlias) =>
        `SELECT l."${ownColumn}" FROM "${links}" l JOIN ${table} ${innerAlias} ON ${innerAlias}."id" = l."${otherColumn}"${linkDiscriminatorCondition(link, 'l')}`,
    };
  }
  // With MATERIALIZED, the SQL expression of a computed relation is evaluated once for each row, wherever the planner places the subquery.
  const pairsSql = `SELECT o."id" AS "of", unnest(${sql!('o')}) AS "id" FROM "${resourceOf(entity)!.table}" o`;
  return {
    outerKeySql: (outerAlias) => `${outerAlias}."id"`,
    innerKeysSql: (innerAlias) =>
      `WITH v AS MATERIALIZED (${pairsSql}) SELECT v."of" FROM v JOIN ${table} ${innerAlias} ON ${innerAlias}."id" = v."id"`,
  };
}

function childSemiJoin(target: Thunk, field: EntityField, keySql: (outerAlias: string) => string): SemiJoin {
  const { column, matchingColumns, name } = field;
  const table = quotedTable(target);
  if (matchingColumns) return sharedColumnsSemiJoin(matchingColumns, table);
  if (column) return { outerKeySql: keySql, innerKeysSql: (innerAlias) => `SELECT ${innerAlias}."${column}" FROM ${table} ${innerAlias}` };
  const link = linkTableOf(field);
  if (!link) throw new Error(`rows cannot be filtered by ${name}`);
  const { table: links, ownColumn, otherColumn, keyColumn = 'id' } = link;
  return {
    outerKeySql: keySql,
    innerKeysSql: (innerAlias) =>
      `SELECT l."${otherColumn}" FROM "${links}" l JOIN ${table} ${innerAlias} ON ${innerAlias}."${keyColumn}" = l."${ownColumn}"${linkDiscriminatorCondition(link, 'l')}`,
  };
}

const referenceRelations = (entity: Entity): Relation[] =>
  fieldsOf(entity).flatMap((field): Relation[] => {
    if (!field.relation) return [];
    const { target, objectField } = field as Required<typeof field>;
    return [
      {
        name: objectField,
        target,
        isToMany: field.relation.isToMany,
        exclusiveTo: resourceOf(target())!.exclusiveTo ?? field.exclusiveTo,
        ...referenceSemiJoin(entity, field),
        visibleConditions: (context) => referenceableRowConditions(target(), context),
      },
    ];
  });

const childRelations = (entity: Entity): Relation[] =>
  childrenOf(entity).map(({ name, target, referenceField, keyField }) => ({
    name,
    target,
    isToMany: true,
    ...childSemiJoin(target, fieldOf(target(), referenceField), (outerAlias) => fieldSqlExpression(fieldOf(entity, keyField), outerAlias)),
    visibleConditions: (context) => visibleRowConditions(target(), context),
  }));
