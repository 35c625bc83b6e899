/** GROUP BY in the GraphQL schema: resources that declare `groupKeyPaths` have a `…Grouped` field next to each of their list fields. */
import { Arg, Ctx, FieldResolver, Info, Int, Query, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { groupedFieldName, type ChildRowsField, type Entity } from '../model/fields';
import { whereInputType } from '../sql/filters';
import { addResolverMethod, type ResolverParameterDecorator } from '../model/resolvermethods';
import { nounOfTypeName } from '../model/inflection';
import { resourceOf } from '../model/registry';
import { DEFAULT_GROUP_COUNT, GroupQuery, type GroupArguments } from './groupquery';
import { groupByInputType, groupOrderInputType, havingInputType } from './inputs';
import { requestedStatisticsOf } from './requestedstatistics';
import { groupType } from './types';

/** Extensions of all `…Grouped` fields. Their cost is high, because they read all rows of the list, however few groups result. */
const GROUPED_FIELD_EXTENSIONS = { exclusiveTo: 'graphql', cost: { weight: 100 } };

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
      description: 'Order of the groups. Ties are resolved by the keys, nulls last.',
    }),
    Arg('first', () => Int, {
      defaultValue: DEFAULT_GROUP_COUNT,
      description: 'Returns the first n groups, at most 10000.',
    }),
    Arg('offset', () => Int, { nullable, description: 'Number of groups to skip.' }),
    Ctx(),
    Info(),
  ];
}

function createGroupQuery(entity: Entity, values: unknown[]): GroupQuery {
  const [where, groupBy, having, orderBy, first, offset, context, info] = values;
  const args = { where, groupBy, having, orderBy, first, offset } as GroupArguments;
  return new GroupQuery(
    entity,
    args,
    requestedStatisticsOf(info as GraphQLResolveInfo),
    context as Context,
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
      description: `Statistics of the ${nounOfTypeName(pluralName)}${isOwned ? ' of the viewer' : ''}, by \`groupBy\`.`,
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
        createGroupQuery(entity, values).readGroupsOfParents(
          child.referenceFieldName,
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
