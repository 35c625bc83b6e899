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

const ABOUT =
  'Without `groupBy` all rows are one group, even where there are none; with it there are only groups that have rows, unless empty ones are asked for. Nulls are a value of a key like any other, and of nothing that is worked out. Groups come in the order asked for, then by their keys, nulls last, so that none share a place.';

function parameters(entity: Entity): Parameter[] {
  const nullable = true;
  const [groupBy, which, order] = [groupByInput(entity), havingInput(entity), groupOrderInput(entity)];
  return [
    Arg('where', () => whereInput(entity), { nullable, description: 'Which rows.' }),
    Arg('groupBy', () => [groupBy], { nullable, description: 'Keys; without any all rows are one group.' }),
    Arg('having', () => [which], { nullable, description: 'Which groups: those for whose statistics all of these hold.' }),
    Arg('orderBy', () => [order], { nullable, description: 'In which order; the keys decide last.' }),
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
      description: `What the ${noun(many)}${owned ? ' of the viewer' : ''} come to, put together by what they have in common. ${ABOUT}`,
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
      description: `What \`${child.name}\` come to, put together by what they have in common. ${ABOUT}`,
    }),
    FACTS,
  );
}
