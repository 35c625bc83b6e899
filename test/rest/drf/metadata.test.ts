/** Descriptions in OPTIONS and in the OpenAPI document use the field names of REST. */
import { isObjectType } from 'graphql';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const OPERATION_TYPES = ['Query', 'Mutation', 'Subscription'];

/** Names of fields in GraphQL. Other words in backticks are values, such as `kg`, or headers. */
const graphqlFieldNames = new Set(
  Object.values(buildGraphQLSchema().getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !OPERATION_TYPES.includes(name))
    .flatMap((type) => Object.keys(type.getFields())),
);

const namesIn = (text: string): string[] => [
  ...[...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  ...(text.replace(/`[^`]+`/g, '').match(/\b[a-z]+[A-Z]\w*/g) ?? []),
];

function keysIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  const nestedKeys = Object.values(value).flatMap(keysIn);

  if (Array.isArray(value)) {
    return [...nestedKeys, ...value.flatMap((item: { name?: string } | null) => item?.name ?? [])];
  }

  return [...Object.keys(value), ...nestedKeys];
}

function descriptionsIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];

  return Object.entries(value).flatMap(([key, part]) => {
    const isDescription = key === 'description' || key === 'help_text';

    return isDescription && typeof part === 'string' ? [part] : descriptionsIn(part);
  });
}

/** Descriptions that name a field of GraphQL that the answer lacks. */
function foreignNames(answer: unknown): string[] {
  const keys = new Set(keysIn(answer));

  return descriptionsIn(answer).flatMap((description) =>
    namesIn(description)
      .filter((name) => graphqlFieldNames.has(name) && !keys.has(name))
      .map((name) => `${name}: ${description}`),
  );
}

test('finds fields that an answer lacks', () => {
  const help = 'In `unit`, not in weightUnit.';

  expect(foreignNames({ weight: { help_text: help } })).toEqual([
    `unit: ${help}`,
    `weightUnit: ${help}`,
  ]);
  expect(foreignNames({ weight: { help_text: 'In `unit` or `kg`.' }, unit: {} })).toEqual([]);
});

test('OPTIONS of every resource names fields of its own answer', async () => {
  const superuser = await fitgraph.user('superuser', { isSuperuser: true });
  const names = Object.keys((await superuser.get('/')).body);

  expect(names.length).toBeGreaterThan(30);

  for (const client of [fitgraph.anonymous, await fitgraph.user('ann'), superuser]) {
    for (const name of [...names, 'ingredienttoweightunit', 'login', 'version']) {
      for (const path of [`/${name}/`, `/${name}/1/`]) {
        expect([path, foreignNames((await client.options(path)).body)]).toEqual([path, []]);
      }
    }
  }
});

test('the OpenAPI document names fields of the same schema or operation', async () => {
  const { paths, components } = (await fitgraph.anonymous.get('/schema')).body;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, operation]) => [
      `${method} ${path}`,
      operation,
    ]),
  );

  for (const [name, part] of [...operations, ...Object.entries(components.schemas)]) {
    expect([name, foreignNames(part)]).toEqual([name, []]);
  }
});
