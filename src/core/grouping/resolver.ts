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
    Arg('orderBy', () => [order], { nullable, description: 'Absent, or where groups are alike: by the keys in turn, nulls last.' }),
    Arg('first', () => Int, { defaultValue: DEFAULT_GROUPS, description: 'How many groups, 10000 at most.' }),
    Arg('offset', () => Int, { nullable, description: 'How many groups to skip.' }),
    Ctx(),
    Info(),
  ];
}

/** As `parameters` has them. */
type Given = unknown[];

function read(entity: Entity, given: Given): { grouping: (context: Context) => Grouping; context: Context; info: GraphQLResolveInfo } {
  const [where, groupBy, having, orderBy, first, offset, context, info] = given;
  const args = { where, groupBy, having, orderBy, first, offset } as GroupArguments;
  return {
    grouping: (asker) => new Grouping(entity, args, shownOf(info as GraphQLResolveInfo), asker),
    context: context as Context,
    info: info as GraphQLResolveInfo,
  };
}

export function groupedQuery(target: ClassType, entity: Entity): void {
  const { many, owned } = resourceOf(entity)!;
  const type = groupType(entity);
  method(
    target,
    'grouped',
    (...given: Given): Promise<Row[]> => {
      const { grouping, context } = read(entity, given);
      return grouping(context).groups(context);
    },
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
    (row: Row, ...given: Given): Promise<Row[]> => {
      const { grouping, context, info } = read(entity, given);
      const load = (ids: readonly unknown[]) => grouping(context).groupsBelow(child.by, ids as number[], context);
      return context.loaders.get<Row[]>(info.fieldNodes, load).load(row[child.key]);
    },
    [Root(), ...parameters(entity)],
    FieldResolver(() => [type], {
      description: `Statistics of \`${child.name}\`, by \`groupBy\`.`,
    }),
    FACTS,
  );
}
