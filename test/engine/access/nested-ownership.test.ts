/**
 * Nested fields, nested filters and computed fields of the viewer's rows do not reveal rows of
 * other users.
 */
import {
  getNamedType,
  isNonNullType,
  isObjectType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import {
  createOwnedRows,
  ownedTypes,
  spreadIds,
  UNKNOWN,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { isListed } from '../../setup/generic-lists';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;
let annas: OwnedRowIds;
let bobs: OwnedRowIds;

beforeAll(async () => {
  await spreadIds(fitgraph);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  [annas, bobs] = [await createOwnedRows(ann), await createOwnedRows(bob)];
});

const schema = buildGraphQLSchema();
const isOwned = (type: GraphQLObjectType) => type.extensions.resource?.isOwned === true;
const isPublic = (type: GraphQLObjectType) => type.extensions.resource?.isOwned === false;

/** Returns a selection of all paths from a type to owned rows, over at most `depth` relations. */
function ownedSelection(type: GraphQLObjectType, depth: number): string {
  const own = Object.keys(type.getFields()).filter((name) => name === 'id');
  const further = Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type);

    if (
      !isObjectType(named) ||
      isPublic(named) ||
      field.args.some((argument) => isNonNullType(argument.type))
    ) {
      return [];
    }

    if (isOwned(named)) {
      return depth > 0 ? [`${field.name} { ${ownedSelection(named, depth - 1)} }`] : [];
    }

    const nodes = named.getFields().nodes;

    if (!nodes || depth === 0) return [];
    const rows = ownedSelection(getNamedType(nodes.type) as GraphQLObjectType, depth - 1);

    // Empty for rows without an id or further relations.
    return rows ? [`${field.name} { nodes { ${rows} } }`] : [];
  });

  return [...own, ...further].join(' ');
}

test.each(
  ownedTypes()
    .filter(isListed)
    .map((entity): [string, string] => [entity.name, resourceOf(entity)!.pluralName]),
)('nested fields of %s return only rows of the viewer', async (name, many) => {
  const { text, data } = await ann.query(
    `{ rows: ${many} { nodes { ${ownedSelection(schema.getType(name) as GraphQLObjectType, 2)} } } }`,
  );

  expect(data.rows.nodes).toHaveLength(1);
  for (const id of bobs.values()) expect(text).not.toContain(String(id));
});

/**
 * Returns all filters from a type to owned rows, over at most `depth` relations, as paths of fields
 * with the type that they reach.
 */
function conditionsOn(
  type: GraphQLInputObjectType,
  depth: number,
): { path: string[]; type: string }[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const named = getNamedType(field.type) as GraphQLInputObjectType;
    const name = /^(.+?)(Where|ListFilter)$/.exec(named.name)?.[1];

    if (
      !name ||
      !schema.getType(name) ||
      named === type ||
      !isOwned(schema.getType(name) as GraphQLObjectType)
    ) {
      return [];
    }

    const where = schema.getType(`${name}Where`) as GraphQLInputObjectType;
    const steps =
      named === where
        ? [[field.name]]
        : ['some', 'none'].map((quantifier) => [field.name, quantifier]);
    const further = depth > 1 ? conditionsOn(where, depth - 1) : [];

    return steps.flatMap((step) => [
      { path: step, type: name },
      ...further.map((way) => ({ ...way, path: [...step, ...way.path] })),
    ]);
  });
}

const leading = ownedTypes()
  .filter(isListed)
  .map(({ name }) => ({
    name,
    ways: conditionsOn(schema.getType(`${name}Where`) as GraphQLInputObjectType, 2),
  }))
  .filter(({ ways }) => ways.length > 0);

test('more than ten owned types can be filtered by other owned rows', () => {
  expect(leading.length).toBeGreaterThan(10);
});

test.each(leading.map(({ name, ways }): [string, typeof ways] => [name, ways]))(
  'nested filters of %s do not reveal rows of other users',
  async (name, ways) => {
    const { pluralName } = resourceOf(findEntity(name)!)!;
    const document = `query ($where: ${name}Where) { rows: ${pluralName}(where: $where) { totalCount nodes { id } } }`;

    for (const { path, type } of ways) {
      const ask = async (id: number) =>
        (
          await ann.query(document, {
            where: path.reduceRight<object>((where, key) => ({ [key]: where }), {
              id: { eq: String(id) },
            }),
          })
        ).text;
      const foreign = bobs.get(findEntity(type)!)!;

      expect([path, await ask(foreign)]).toEqual([path, await ask(UNKNOWN)]);
    }
  },
);

/** Computed fields of owned types, with their REST resource and action. */
const computed = ownedTypes().flatMap((entity) =>
  Object.values((schema.getType(entity.name) as GraphQLObjectType).getFields())
    .filter(({ extensions }) => extensions.action)
    .map((field): [string, string, string] => [
      `${entity.name}.${field.name}`,
      resourceOf(entity)!.metadata.views[0]!.restName,
      field.extensions.action!.name,
    ]),
);

if (computed.length) {
  test.each(computed)('%s of a row of another user is not found', async (_name, rest, action) => {
    const ask = (id: number) => ann.get(`/${rest}/${id}/${action}/?id=1&exercise=1&amount=1`);
    const entity = ownedTypes().find(
      (candidate) => resourceOf(candidate)!.metadata.views[0]!.restName === rest,
    )!;
    const [foreign, unknown] = [await ask(bobs.get(entity)!), await ask(UNKNOWN)];

    expect(foreign).toMatchObject({ status: 404, body: { detail: 'Not found.' } });
    expect(unknown).toMatchObject({ status: 404, text: foreign.text });
    expect((await ask(annas.get(entity)!)).status).toBe(200);
  });
}
