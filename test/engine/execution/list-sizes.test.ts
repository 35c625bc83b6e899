/**
 * Declared list sizes, which cost estimates use, compared with the lists of a rich account, of the
 * demo account and of the seeded catalogue.
 */
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql';
import { TokenVault } from '../../../src/accounts/tokens';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { seedDemo } from '../../../src/transfer/seed';
import { SECRET_KEY, TIME_ZONE } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { daysAgo, richAccount, TODAY } from '../../setup/rich-account';
import { Visitor } from '../../setup/visitor';

// The documents of this file read whole tables.
const fitgraph = fitgraphForThisFile({
  content: 'tables',
  environment: { BUDGET: 'off', MAX_COST: '1000000000' },
});
const schema = buildGraphQLSchema();
const query = schema.getQueryType()!;
const objectTypes = Object.values(schema.getTypeMap()).filter(isObjectType);

type Field = GraphQLField<unknown, unknown>;
type Way = readonly Field[];

const hasArgument = ({ args }: Field, ...names: string[]) =>
  args.some(({ name }) => names.includes(name));
const isConnectionList = (type: GraphQLObjectType, { name }: Field) =>
  type.name.endsWith('Connection') && ['nodes', 'edges'].includes(name);
const takesList = ({ args }: Field) =>
  args.some(({ type }) => isNonNullType(type) && isListType(type.ofType));

/** Whether no argument determines the length of a list. */
const isOpenList = (type: GraphQLObjectType, field: Field) =>
  isListType(getNullableType(field.type)) &&
  !hasArgument(field, 'first', 'last') &&
  !takesList(field) &&
  !isConnectionList(type, field);

const lists = objectTypes
  .filter((type) => !isIntrospectionType(type))
  .flatMap((type) =>
    Object.values(type.getFields())
      .filter((field) => isOpenList(type, field))
      .map((field) => ({
        coordinate: `${type.name}.${field.name}`,
        type,
        field,
        size: field.extensions.listSize?.assumedSize,
      })),
  );

const ARGUMENTS: Record<string, string> = {
  plannedTraining: `(from: "${daysAgo(27)}", until: "${TODAY}")`,
};
const isSelectable = ({ name, args }: Field) =>
  name in ARGUMENTS || args.every(({ type }) => !isNonNullType(type));

/**
 * Returns the fields on each path from `Query` to all objects of a type: its list, or else all
 * fields of other types that return it.
 */
function waysTo(type: GraphQLObjectType, visited: readonly string[] = []): Way[] {
  if (type === query) return [[]];
  const list = query.getFields()[type.extensions.resource?.listQueryName ?? ''];

  if (list) {
    return [
      isListType(getNullableType(list.type))
        ? [list]
        : [list, (getNamedType(list.type) as GraphQLObjectType).getFields().nodes!],
    ];
  }

  const parents = objectTypes.filter(
    ({ name }) => !visited.includes(name) && !/^(?:Mutation|Subscription)$|Payload$/.test(name),
  );

  return parents.flatMap((parent) =>
    Object.values(parent.getFields())
      .filter((field) => getNamedType(field.type) === type && isSelectable(field))
      .flatMap((field) => waysTo(parent, [...visited, type.name]).map((way) => [...way, field])),
  );
}

function documentOf(way: Way, list: Field): string {
  const leaf = isCompositeType(getNamedType(list.type)) ? `${list.name} { __typename }` : list.name;
  const argumentsOf = (field: Field) =>
    ARGUMENTS[field.name] ?? (hasArgument(field, 'first') ? '(first: 10000)' : '');

  return `{ ${way.reduceRight((inner, field) => `${field.name}${argumentsOf(field)} { ${inner} }`, leaf)} }`;
}

/** Returns the lengths of all lists at the end of a path of keys. */
function lengthsAt(value: any, [key, ...rest]: readonly string[]): number[] {
  if (value === null) return [];
  if (key === undefined) return [(value as unknown[]).length];

  return Array.isArray(value)
    ? value.flatMap((item) => lengthsAt(item, [key, ...rest]))
    : lengthsAt(value[key], rest);
}

const average = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Whether a list belongs to no stored row: results of mutations, and the page of a subscription.
 */
const isOfOperation = (coordinate: string) =>
  /^\w+Payload\.|^InputError\.path$|^Changes\.changes$/.test(coordinate);

test('every list whose length no argument determines declares its size', () => {
  expect(lists.length).toBeGreaterThan(70);
  expect(
    lists.filter(({ size }) => size === undefined).map(({ coordinate }) => coordinate),
  ).toEqual([]);
  expect(
    lists.filter(({ size }) => typeof size === 'function').map(({ coordinate }) => coordinate),
  ).toEqual(['Query.plannedTraining']);
});

test('declared sizes are between the average length of stored lists and twice the greatest one', async () => {
  const { person } = await richAccount(fitgraph);
  const { ingredients } = await person.ask('{ ingredients(first: 8) { nodes { id } } }');

  await person.ask(
    `mutation ($parts: [RecipePartOfRecipeInput!]!) { createRecipe(input: { name: "Soup", languageId: 2, parts: $parts }) { errors { code } } }`,
    {
      parts: ingredients.nodes.map(({ id }: { id: string }) => ({ ingredientId: id, grams: '50' })),
    },
  );
  const demo = await seedDemo({
    database: fitgraph.database,
    tokenVault: new TokenVault(SECRET_KEY),
    timeZone: TIME_ZONE,
  });
  const people = [person, new Person(fitgraph.url, { id: 0, token: demo!.token })];
  const superuser = await fitgraph.user('superuser', { isSuperuser: true });

  for (const name of ['Phone', 'Watch', 'Scale']) {
    await person.ask(
      `mutation { createAccessToken(name: "${name}", scopes: [READ_BODY]) { token } }`,
    );
    await new Visitor(fitgraph.url).signIn('ann');
  }

  const wrong: string[] = [];

  for (const { coordinate, type, field, size } of lists) {
    if (typeof size !== 'number' || isOfOperation(coordinate)) continue;
    const lengths = await Promise.all(
      people.map(async (one) => {
        const answers = waysTo(type).map(async (way) =>
          lengthsAt(
            await (way[0]?.name === 'accounts' ? superuser : one).ask(documentOf(way, field)),
            [...way, field].map(({ name }) => name),
          ),
        );

        return (await Promise.all(answers)).flat();
      }),
    );
    const averages = lengths.filter((one) => one.length).map(average);
    const least = Math.max(...averages);
    const most = 2 * Math.max(...lengths.flat());

    if (!(size >= least && size <= most)) {
      wrong.push(`${coordinate} has the size ${size}, not from ${least.toFixed(2)} to ${most}`);
    }
  }

  expect(wrong).toEqual([]);
});
