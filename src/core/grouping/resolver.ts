/** `…Grouped` beside the lists of resources that declare it: the queries, and the fields below parents. */
import { Arg, Ctx, FieldResolver, Info, Int, Query, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { groupedName, type ChildMeta, type Entity } from '../model/fields';
import { whereInput } from '../sql/filters';
import { method, type Parameter } from '../model/method';
import { noun } from '../model/inflection';
import { resourceOf } from '../model/registry';
import { DEFAULT_GROUPS, Grouping, type GroupArguments } from './grouped';
import { groupByInput, groupOrderInput, havingInput } from './inputs';
import { shownOf } from './plan';
import { groupType } from './types';

/** All rows of a list are read, however few groups they make. */
const FACTS = { only: 'graphql', cost: { weight: 100 } };

function parameters(entity: Entity): Parameter[] {
  const nullable = true;
  const [groupBy, which, order] = [groupByInput(entity), havingInput(entity), groupOrderInput(entity)];
  return [
    Arg('where', () => whereInput(entity), { nullable, description: 'Which rows.' }),
    Arg('groupBy', () => [groupBy], { nullable, description: 'Keys; absent: all rows are one group.' }),
    Arg('having', () => [which], { nullable, description: 'Conditions on statistics; all must hold.' }),
    Arg('orderBy', () => [order], { nullable, description: 'The keys decide last, nulls last.' }),
    Arg('first', () => Int, { defaultValue: DEFAULT_GROUPS, description: 'How many groups, 10000 at most.' }),
    Arg('offset', () => Int, { nullable, description: 'How many groups to skip.' }),
    Ctx(),
    Info(),
  ];
}

function grouping(entity: Entity, given: unknown[]): Grouping {
  const [where, groupBy, having, orderBy, first, offset, context, info] = given;
  const args = { where, groupBy, having, orderBy, first, offset } as GroupArguments;
  return new Grouping(entity, args, shownOf(info as GraphQLResolveInfo), context as Context);
}

export function groupedQuery(target: ClassType, entity: Entity): void {
  const { many, owned } = resourceOf(entity)!;
  const type = groupType(entity);
  method(
    target,
    'grouped',
    (...given: unknown[]): Promise<Row[]> => grouping(entity, given).groups(),
    parameters(entity),
    Query(() => [type], {
      name: `${many}Grouped`,
      description: `Statistics of the ${noun(many)}${owned ? ' of the viewer' : ''}, by \`groupBy\`.`,
    }),
    FACTS,
  );
}

export function groupedChildren(target: ClassType, child: ChildMeta): void {
  const entity = child.target();
  const type = groupType(entity);
  method(
    target,
    groupedName(child),
    (row: Row, ...given: unknown[]): Promise<Row[]> => {
      const [context, info] = given.slice(-2) as [Context, GraphQLResolveInfo];
      const load = (ids: readonly unknown[]) => grouping(entity, given).groupsBelow(child.by, ids as number[]);
      return context.loaders.get<Row[]>(info.fieldNodes, load).load(row[child.key]);
    },
    [Root(), ...parameters(entity)],
    FieldResolver(() => [type], { description: `Statistics of \`${child.name}\`, by \`groupBy\`.` }),
    FACTS,
  );
}
