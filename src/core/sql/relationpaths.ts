/** Translates paths of relations to SQL, for conditions on related rows. Only rows that the viewer can see are considered. */
import { referenceableRowConditions, visibleRowConditions } from '../access/access';
import type { SqlCondition } from '../access/conditions';
import type { Context } from '../context';
import {
  childRowsFieldsOf,
  fieldOf,
  fieldsOf,
  type Entity,
  type EntityField,
  type Thunk,
} from '../model/fields';
import { linkDiscriminatorCondition } from '../model/linktable';
import type { ApiName } from '../../contract/metadata';
import { memoizePerEntity } from '../model/memoize';
import { fieldSqlExpression, linkTableOf } from './expressions';
import { resourceOf } from '../model/registry';

/** SQL of a relation as a semi-join, `outerKeySql IN (innerKeysSql)`. PostgreSQL reads the related rows once instead of once per row. */
interface SemiJoin {
  outerKeySql(outerAlias: string): string;
  /** Returns a `SELECT … FROM …` of the keys of the related rows, whose table has the alias `innerAlias`. */
  innerKeysSql(innerAlias: string): string;
}

export interface EntityRelation extends SemiJoin {
  name: string;
  target: Thunk;
  isToMany: boolean;
  /** The API (GraphQL or REST) that has the relation; absent if both have it. */
  exclusiveTo?: ApiName;
  visibilityConditions(context: Context): SqlCondition[];
}

/** Returns the relations of an entity. Call it only after all resources are loaded. */
export const relationsOf = memoizePerEntity((entity): readonly EntityRelation[] => [
  ...referenceRelations(entity),
  ...childRelations(entity),
]);

const quotedTableName = (target: Thunk) => `"${resourceOf(target())!.table}"`;

/** Returns the semi-join of a computed reference between rows with equal values in several columns, such as those of the same day. */
const sharedColumnsSemiJoin = (columns: readonly string[], table: string): SemiJoin => {
  const columnsSql = (alias: string) => columns.map((column) => `${alias}."${column}"`).join(', ');
  return {
    outerKeySql: (outerAlias) => `(${columnsSql(outerAlias)})`,
    innerKeysSql: (innerAlias) => `SELECT ${columnsSql(innerAlias)} FROM ${table} ${innerAlias}`,
  };
};

function referenceSemiJoin(entity: Entity, field: EntityField): SemiJoin {
  const { target, column, matchingColumns, sql } = field;
  const table = quotedTableName(target!);
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
  const idPairsSql = `SELECT o."id" AS "of", unnest(${sql!('o')}) AS "id" FROM "${resourceOf(entity)!.table}" o`;
  return {
    outerKeySql: (outerAlias) => `${outerAlias}."id"`,
    innerKeysSql: (innerAlias) =>
      `WITH v AS MATERIALIZED (${idPairsSql}) SELECT v."of" FROM v JOIN ${table} ${innerAlias} ON ${innerAlias}."id" = v."id"`,
  };
}

function childSemiJoin(
  target: Thunk,
  field: EntityField,
  outerKeySql: (outerAlias: string) => string,
): SemiJoin {
  const { column, matchingColumns, name } = field;
  const table = quotedTableName(target);
  if (matchingColumns) return sharedColumnsSemiJoin(matchingColumns, table);
  if (column)
    return {
      outerKeySql,
      innerKeysSql: (innerAlias) => `SELECT ${innerAlias}."${column}" FROM ${table} ${innerAlias}`,
    };
  const link = linkTableOf(field);
  if (!link) throw new Error(`rows cannot be filtered by ${name}`);
  const { table: links, ownColumn, otherColumn, keyColumn = 'id' } = link;
  return {
    outerKeySql,
    innerKeysSql: (innerAlias) =>
      `SELECT l."${otherColumn}" FROM "${links}" l JOIN ${table} ${innerAlias} ON ${innerAlias}."${keyColumn}" = l."${ownColumn}"${linkDiscriminatorCondition(link, 'l')}`,
  };
}

const referenceRelations = (entity: Entity): EntityRelation[] =>
  fieldsOf(entity).flatMap((field): EntityRelation[] => {
    if (!field.relation) return [];
    const { target, objectFieldName } = field as Required<typeof field>;
    return [
      {
        name: objectFieldName,
        target,
        isToMany: field.relation.isToMany,
        exclusiveTo: resourceOf(target())!.exclusiveTo ?? field.exclusiveTo,
        ...referenceSemiJoin(entity, field),
        visibilityConditions: (context) => referenceableRowConditions(target(), context),
      },
    ];
  });

const childRelations = (entity: Entity): EntityRelation[] =>
  childRowsFieldsOf(entity).map(({ name, target, referenceFieldName, keyFieldName }) => ({
    name,
    target,
    isToMany: true,
    ...childSemiJoin(target, fieldOf(target(), referenceFieldName), (outerAlias) =>
      fieldSqlExpression(fieldOf(entity, keyFieldName), outerAlias),
    ),
    visibilityConditions: (context) => visibleRowConditions(target(), context),
  }));
