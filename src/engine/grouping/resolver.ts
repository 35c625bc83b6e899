/**
 * GROUP BY in the GraphQL schema: resources with `groupKeyPaths` have a `…Grouped` field next to
 * each of their list fields.
 */
import { Arg, Ctx, FieldResolver, Info, Int, Query, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { groupedFieldName, type ChildRowsField, type Entity } from '../declare/fields';
import { whereInputType } from '../sql/filters';
import { addResolverMethod, type ResolverParameterDecorator } from '../declare/resolver-methods';
import { listSizeExtensions } from '../declare/field-extensions';
import { nounOf } from '../declare/inflection';
import { ALL_OR_FIRST_DESCRIPTION } from '../declare/page-size';
import { resourceOf } from '../declare/registry';
import { GroupQuery, type GroupArguments } from './group-query';
import { groupByInputType, groupOrderInputType, havingInputType } from './inputs';
import { requestedStatisticsOf } from './statistics';
import { groupType } from './types';

const TYPICAL_GROUP_COUNT = 100;

/**
 * Extensions of `…Grouped` fields. Their cost is high, because they read all rows of the list,
 * however few groups result.
 */
const GROUPED_FIELD_EXTENSIONS = {
  exclusiveTo: 'graphql',
  cost: { weight: 100 },
  ...listSizeExtensions(TYPICAL_GROUP_COUNT),
};

function groupedFieldParameterDecorators(entity: Entity): ResolverParameterDecorator[] {
  const nullable = true;
  const [groupBy, havingType, order] = [
    groupByInputType(entity),
    havingInputType(entity),
    groupOrderInputType(entity),
  ];

  return [
    Arg('where', () => whereInputType(entity), { nullable, description: 'Filters the rows.' }),
    Arg('groupBy', () => [groupBy], {
      nullable,
      description: 'The keys of the groups. If absent, all rows form one group.',
    }),
    Arg('having', () => [havingType], {
      nullable,
      description: 'Conditions on statistics; all must hold.',
    }),
    Arg('orderBy', () => [order], {
      nullable,
      description: 'Order of the groups, then by the keys, nulls last.',
    }),
    Arg('first', () => Int, {
      nullable,
      description: ALL_OR_FIRST_DESCRIPTION,
    }),
    Arg('offset', () => Int, { nullable, description: 'Number of groups to skip.' }),
    Ctx(),
    Info(),
  ];
}

function createGroupQuery(
  entity: Entity,
  values: unknown[],
  referenceFieldName?: string,
): GroupQuery {
  const [where, groupBy, having, orderBy, first, offset, context, info] = values;
  const args = { where, groupBy, having, orderBy, first, offset } as GroupArguments;

  return new GroupQuery(
    entity,
    args,
    requestedStatisticsOf(entity, info as GraphQLResolveInfo),
    context as Context,
    referenceFieldName,
  );
}

export function addGroupedQuery(target: ClassType, entity: Entity): void {
  const { pluralName, isOwned } = resourceOf(entity)!;
  const type = groupType(entity);

  addResolverMethod(
    target,
    'grouped',
    (...values: unknown[]): Promise<Row[]> => createGroupQuery(entity, values).readGroups(),
    groupedFieldParameterDecorators(entity),
    Query(() => [type], {
      name: `${pluralName}Grouped`,
      description: `Statistics of the ${nounOf(pluralName)}${isOwned ? ' of the viewer' : ''}, by \`groupBy\`.`,
    }),
    GROUPED_FIELD_EXTENSIONS,
  );
}

export function addGroupedChildField(target: ClassType, child: ChildRowsField): void {
  const entity = child.target();
  const type = groupType(entity);

  addResolverMethod(
    target,
    groupedFieldName(child),
    (row: Row, ...values: unknown[]): Promise<Row[]> => {
      const [context, info] = values.slice(-2) as [Context, GraphQLResolveInfo];
      const loadGroups = (ids: readonly unknown[]) =>
        createGroupQuery(entity, values, child.referenceFieldName).readGroupsOfParents(
          ids as number[],
        );

      return context.loaders
        .getOrCreate<Row[]>(info.fieldNodes, loadGroups)
        .load(row[child.keyFieldName]);
    },
    [Root(), ...groupedFieldParameterDecorators(entity)],
    FieldResolver(() => [type], {
      description: `Statistics of \`${child.name}\`, by \`groupBy\`.`,
    }),
    GROUPED_FIELD_EXTENSIONS,
  );
}
