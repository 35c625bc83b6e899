/**
 * The number of SQL statements of a read depends on the selected fields, not on the number of rows.
 */
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
} from 'graphql';
import type { Entity } from '../../../src/engine/declare/fields';
import { allEntities, findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { validateDump, entitiesByDumpModel, sortByDependency } from '../../../src/transfer/dump';
import { importDumpRows } from '../../../src/transfer/importer';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { hasPages, isListed } from '../../setup/generic-lists';
import type { Answer, Person } from '../../setup/person';
import { dumpRowOf } from '../../setup/sample-values';

const SIZES = [1, 20, 400];

/**
 * Statements for authentication, the rows, their count, the validation of caches, and a few
 * relations.
 */
const MAX_STATEMENTS = 9;

const fitgraph = fitgraphForThisFile({ content: 'tables' });
const schema = buildGraphQLSchema();

interface Request {
  name: string;
  ask(person: Person): Promise<Answer>;

  /** The number of rows in the response. */
  rows(answer: Answer): number;
  most?: number;
}

/** Returns all types except users and their profiles, of which each user has one. */
const growingEntities = () =>
  sortByDependency(entitiesByDumpModel()).filter(
    ({ name }) => name !== 'User' && name !== 'UserProfile',
  );

const typeOf = (entity: Entity) => schema.getType(entity.name) as GraphQLObjectType;

/** Returns a selection of all fields without required arguments, `depth` levels deep. */
function allFields(type: GraphQLObjectType, depth: number): string {
  return Object.values(type.getFields())
    .flatMap((field) => {
      const named = getNamedType(field.type);

      // Actions that validate a form return an error without input. Groups have tests of their own.
      if (
        field.name.endsWith('Grouped') ||
        field.extensions.action?.bodyWhenArgumentsInvalid ||
        field.args.some((argument) => isNonNullType(argument.type))
      ) {
        return [];
      }

      if (isLeafType(named)) return [field.name];
      if (!isObjectType(named) || depth === 0) return [];
      const nodes = named.getFields().nodes;
      const selectionOfNode = allFields(
        (nodes ? getNamedType(nodes.type) : named) as GraphQLObjectType,
        depth - 1,
      );

      // A type may have no leaf field without required arguments.
      if (!selectionOfNode) return [];

      return [
        `${field.name} { ${nodes ? `totalCount nodes { ${selectionOfNode} }` : selectionOfNode} }`,
      ];
    })
    .join(' ');
}

/** Number of conditions in one request. */
const AT_ONCE = 60;

/** A value for each scalar and enum of filters. */
const VALUES: Record<string, unknown> = {
  ID: '1',
  String: 'ab',
  Boolean: true,
  Int: 1,
  Decimal: '1.5',
  Date: '2000-01-01',
  Time: '08:00',
  DateTime: '2021-03-10T08:00:00Z',
  TextMode: 'INSENSITIVE',
};

/** Returns all filters of a type, with relations one level deep, each as a separate `where`. */
function everyCondition(entity: Entity): object[] {
  const operand = (type: GraphQLInputType): unknown => {
    const named = getNamedType(type);

    if (isEnumType(named)) return named.getValues()[0]!.name;
    if (!isInputObjectType(named)) return VALUES[named.name];

    return named.name.endsWith('Range')
      ? { from: operand(named.getFields().from!.type), to: operand(named.getFields().to!.type) }
      : { id: { eq: '1' } };
  };

  return Object.values(
    (schema.getType(`${entity.name}Where`) as GraphQLInputObjectType).getFields(),
  ).flatMap((field): object[] => {
    const type = getNamedType(field.type) as GraphQLInputObjectType;

    if (type.name.endsWith('Where')) return [{ [field.name]: operand(type) }];
    const operators = Object.values(type.getFields()).filter(({ name }) => name !== 'mode');

    return operators.map((operator) => ({
      [field.name]: { [operator.name]: operand(operator.type) },
    }));
  });
}

/**
 * Returns an order with the largest number of elements: fields of the row and of referenced rows.
 */
function everyOrder(entity: Entity): object[] {
  const elements = Object.values(
    (schema.getType(`${entity.name}Order`) as GraphQLInputObjectType).getFields(),
  ).flatMap(({ name, type }) => {
    const inner = getNamedType(type);

    if (name === 'id' || name === 'relevance') return [];

    return [{ [name]: isInputObjectType(inner) ? { id: 'DESC_NULLS_LAST' } : 'ASC_NULLS_FIRST' }];
  });

  return [...elements.reverse().slice(0, 9), { id: 'DESC' }];
}

const graphql = (
  name: string,
  document: string,
  rowsOf: (data: any) => unknown[],
  most?: number,
  variables?: Record<string, unknown>,
): Request => ({
  name,
  ask: (person) => person.query(document, variables),
  rows: ({ body }) => rowsOf(body.data).length,
  most,
});

const rest = (path: string): Request => ({
  name: `GET ${path}`,
  ask: (person) => person.get(path),
  rows: ({ body }) => body.results.length,
});

const queriedEntities = () =>
  allEntities().filter((entity) => growingEntities().includes(entity) && isListed(entity));

const requests: Request[] = [
  ...growingEntities().flatMap((entity) =>
    resourceOf(entity)!.metadata.views.map((view) => rest(`/${view.restName}/?limit=1000`)),
  ),
  ...queriedEntities().flatMap((entity) => {
    const { pluralName } = resourceOf(entity)!;
    const list = (selection: string) =>
      hasPages(entity)
        ? `{ page: ${pluralName}(first: 1000) { totalCount nodes { ${selection} } } }`
        : `{ rows: ${pluralName} { ${selection} } }`;

    return [
      graphql(
        `${pluralName} without relations`,
        list(allFields(typeOf(entity), 0)),
        ({ page, rows }) => rows ?? page.nodes,
        MAX_STATEMENTS,
      ),
      graphql(
        `${pluralName} with all relations`,
        list(allFields(typeOf(entity), 1)),
        ({ page, rows }) => rows ?? page.nodes,
        Infinity,
      ),
    ];
  }),
  ...queriedEntities()
    .filter(hasPages)
    .flatMap((entity) => {
      const { pluralName } = resourceOf(entity)!;
      const conditions = everyCondition(entity);
      const document = `query ($where: ${entity.name}Where, $orderBy: [${entity.name}Order!]) { page: ${pluralName}(first: 1000, where: $where, orderBy: $orderBy) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } } }`;
      const parts = Math.ceil(conditions.length / AT_ONCE);

      return Array.from({ length: parts }, (_, part) => {
        const some = conditions.slice(part * AT_ONCE, (part + 1) * AT_ONCE);
        const variables = {
          where: { or: [...some, { id: { isNull: false } }] },
          orderBy: everyOrder(entity),
        };

        // Authentication, and the list with its count.
        return graphql(
          `${pluralName} with all filters and orders, ${part + 1} of ${parts}`,
          document,
          ({ page }) => page.edges,
          2,
          variables,
        );
      });
    }),
  ...Object.values((schema.getType('User') as GraphQLObjectType).getFields())
    .filter((field) => getNamedType(field.type).name.endsWith('Connection'))
    .map((field) => {
      const nodes = (getNamedType(field.type) as GraphQLObjectType).getFields().nodes!;
      const selection = allFields(getNamedType(nodes.type) as GraphQLObjectType, 0);
      const document = `{ viewer { page: ${field.name}(first: 1000) { totalCount nodes { ${selection} } } } }`;

      return graphql(`viewer.${field.name}`, document, ({ viewer }) => viewer.page.nodes);
    }),
  graphql(
    'exercises with names, category, muscles, equipment, images and comments',
    '{ exercises(first: 1000) { nodes { name german: name(language: "de") category { name } muscles { name } equipment { name } images { image } translations { name comments { comment } } } } }',
    ({ exercises }) => exercises.nodes,
  ),
];

let ann: Person;

/** Responses by number of rows. */
const answers = new Map<number, Map<Request, Answer>>();

/**
 * Inserts rows into all tables. Row n references row n of each parent table, so that lists have as
 * many related rows.
 */
async function addRows(from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index + 1);
  const rows = growingEntities().flatMap((entity) =>
    numbers.map((number) =>
      dumpRowOf(entity, number, ({ relation, target }) => {
        const id = target!() === findEntity('User') ? ann.id : number;

        return relation!.isToMany ? [id] : id;
      }),
    ),
  );

  await importDumpRows(validateDump(rows), fitgraph.database, { tokenVault: fitgraph.tokenVault });
  const events = `INSERT INTO "security_event" ("kind", "user_id") SELECT 'COMMAND', $1::int FROM generate_series(1, $2)`;

  await fitgraph.sql(events, [ann.id, numbers.length]);
  await fitgraph.reference.reload();
}

beforeAll(async () => {
  // The profile of a new user references a language. This one is replaced as soon as the generated
  // ones exist.
  await fitgraph.sql(
    `INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'xx', 'For a moment')`,
  );
  ann = await fitgraph.user('ann');
  let size = 0;

  for (const next of SIZES) {
    await addRows(size, next);

    if (size === 0) {
      await fitgraph.sql('UPDATE "user_profile" SET "notification_language_id" = 1');
      await fitgraph.sql('DELETE FROM "language" WHERE "id" = 2');
    }

    size = next;
    const answersByRequest = new Map<Request, Answer>();

    for (const request of requests) answersByRequest.set(request, await request.ask(ann));
    answers.set(size, answersByRequest);
  }
});

test.each(requests.map((request): [string, Request] => [request.name, request]))(
  'takes a constant number of statements: %s',
  (_name, request) => {
    const [small, middle, large] = SIZES.map((size) => answers.get(size)!.get(request)!);

    expect(large!.body.errors).toBeUndefined();
    expect([small, middle, large].map((answer) => request.rows(answer!))).toEqual(SIZES);
    expect([middle!.statements, large!.statements]).toEqual([small!.statements, small!.statements]);
    expect(small!.statements).toBeGreaterThan(0);
    expect(small!.statements).toBeLessThanOrEqual(request.most ?? MAX_STATEMENTS);
  },
);
