/**
 * All orders of a few types with many nulls and ties: cursor pages from either end add up to the
 * whole list, and nulls sort as specified.
 */
import { getNamedType, isInputObjectType, type GraphQLInputObjectType } from 'graphql';
import { fieldsOf } from '../../../src/engine/declare/fields';
import { afterBranches } from '../../../src/engine/sql/cursor';
import { OrderDirection } from '../../../src/engine/sql/ordering';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { everyRow, isPublished, populate, type Row } from '../../setup/rows-of-every-type';
import { seeded } from '../../setup/random';

const PAGE = 6;
const TYPES = ['Exercise', 'SetGroup', 'PlannedSet', 'DiaryEntry'];

const fitgraph = fitgraphForThisFile({ content: 'tables' });
const schema = buildGraphQLSchema();
let ann: Person;
const rows = new Map<string, Map<number, Row>>();

beforeAll(async () => {
  [ann] = await populate(fitgraph, 'orders');

  for (const type of Object.values(schema.getTypeMap())) {
    const entity = findEntity(type.name);

    if (entity) {
      rows.set(type.name, new Map((await everyRow(fitgraph, entity)).map((row) => [row.id, row])));
    }
  }
});

/** Returns the paths to all sortable fields of a type, across up to `relations` references. */
function paths(type: string, relations: number): string[][] {
  const order = schema.getType(`${type}Order`) as GraphQLInputObjectType;

  return Object.values(order.getFields()).flatMap(({ name, type: direction }) => {
    // All rows belong to the same user, so ordering by user has no effect; another test orders by
    // relevance.
    if (name === 'relevance' || name === 'user') return [];
    const named = getNamedType(direction);

    if (!isInputObjectType(named)) return [[name]];

    return relations > 0
      ? paths(named.name.replace(/Order$/, ''), relations - 1).map((path) => [name, ...path])
      : [];
  });
}

/** Returns the value at the end of a path that starts at the row. */
function valueAt(type: string, row: Row | undefined, [name, ...further]: string[]): unknown {
  if (!row) return null;
  const reference = fieldsOf(findEntity(type)!).find(
    ({ relationFieldName: relationFieldName }) => relationFieldName === name,
  );

  if (!reference) {
    const field = fieldsOf(findEntity(type)!).find((one) => one.name === name);

    // GraphQL shows a choice that REST stored as an empty text as null.
    return field?.enum && field.allowNull && row[name!] === '' ? null : row[name!];
  }

  const target = reference.relation!.typeName;
  const found = rows.get(target)!.get(row[reference.name]);

  // A reference to an unpublished row sorts as null.
  if (
    found &&
    !isPublished(findEntity(target)!, found, (other) => rows.get(other.name)!.values())
  ) {
    return null;
  }

  return valueAt(
    target,
    found,
    further.length ? further : [resourceOf(findEntity(target)!)!.ordering[0]!],
  );
}

interface Page {
  nodes: { id: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string;
    endCursor: string;
  };
}

const ask = async (type: string, args: object): Promise<Page> => {
  const document = `query ($first: Int, $after: String, $last: Int, $before: String, $offset: Int, $where: ${type}Where, $orderBy: [${type}Order!]) {
    page: ${resourceOf(findEntity(type)!)!.pluralName}(first: $first, after: $after, last: $last, before: $before, offset: $offset, where: $where, orderBy: $orderBy) {
      nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

  return (await ann.ask(document, args as Record<string, unknown>)).page;
};

const ids = ({ nodes }: Page) => nodes.map(({ id }) => Number(id));

async function forward(type: string, args: object): Promise<number[]> {
  const found: number[] = [];
  let page: Page | undefined;

  do {
    found.push(
      ...ids((page = await ask(type, { ...args, first: PAGE, after: page?.pageInfo.endCursor }))),
    );
  } while (page.pageInfo.hasNextPage);

  return found;
}

async function backward(type: string, args: object): Promise<number[]> {
  const found: number[] = [];
  let page: Page | undefined;

  do {
    found.unshift(
      ...ids((page = await ask(type, { ...args, last: PAGE, before: page?.pageInfo.startCursor }))),
    );
  } while (page.pageInfo.hasPreviousPage);

  return found;
}

const whole = async (type: string, args: object) => ids(await ask(type, { ...args, first: 100 }));

const NULLS_FIRST: Record<string, boolean> = {
  ASC: false,
  DESC: true,
  ASC_NULLS_FIRST: true,
  DESC_NULLS_LAST: false,
};
const nested = (path: string[], direction: unknown): any =>
  path.reduceRight((value, name) => ({ [name]: value }), direction);

const cases = TYPES.flatMap((type) =>
  paths(type, 1).map((path): [string, string, string[]] => [type, path.join('.'), path]),
);

test.each(cases)(
  seeded('pages %s by %s from both ends and sorts nulls as specified'),
  async (type, _name, path) => {
    for (const direction of Object.keys(OrderDirection)) {
      const args = { orderBy: [nested(path, direction)] };
      const all = await whole(type, args);

      expect(all.length).toBeGreaterThan(PAGE);
      expect(new Set(all).size).toBe(all.length);
      expect([direction, await forward(type, args)]).toEqual([direction, all]);
      expect([direction, await backward(type, args)]).toEqual([direction, all]);
      const values = all.map((id) => valueAt(type, rows.get(type)!.get(id), path));
      const firstNull = values.indexOf(null);

      if (firstNull < 0) continue;
      const nulls = values.filter((value) => value === null).length;
      const start = NULLS_FIRST[direction] ? 0 : values.length - nulls;

      expect([direction, values.slice(start, start + nulls)]).toEqual([
        direction,
        Array(nulls).fill(null),
      ]);
    }
  },
);

test(seeded('breaks ties by ascending id in every direction'), async () => {
  const sets = [...rows.get('SetGroup')!.values()].filter(({ userId }) => userId === ann.id);
  const compare = (a: number, b: number) => a - b;

  const expected = (sign: number) => {
    const numbered = sets
      .filter(({ position }) => position !== null)
      .sort((a, b) => sign * compare(a.position, b.position) || compare(a.id, b.id));
    const nulls = sets
      .filter(({ position }) => position === null)
      .sort((a, b) => compare(a.id, b.id));

    return { nulls: nulls.map(({ id }) => id), numbered: numbered.map(({ id }) => id) };
  };

  const rowsInOrder = (direction: string) =>
    whole('SetGroup', { orderBy: [{ position: direction }] });

  expect(await rowsInOrder('ASC')).toEqual([...expected(1).numbered, ...expected(1).nulls]);
  expect(await rowsInOrder('ASC_NULLS_FIRST')).toEqual([
    ...expected(1).nulls,
    ...expected(1).numbered,
  ]);
  expect(await rowsInOrder('DESC')).toEqual([...expected(-1).nulls, ...expected(-1).numbered]);
  expect(await rowsInOrder('DESC_NULLS_LAST')).toEqual([
    ...expected(-1).numbered,
    ...expected(-1).nulls,
  ]);
});

test(seeded('pages from both ends by several fields and by fields across references'), async () => {
  const orders: [string, object[]][] = [
    [
      'PlannedSet',
      [{ rir: 'DESC_NULLS_LAST' }, { targetWeight: 'ASC_NULLS_FIRST' }, { notes: 'DESC' }],
    ],
    [
      'PlannedSet',
      [{ setGroup: { position: 'DESC_NULLS_LAST' } }, { exercise: { category: 'DESC' } }],
    ],
    [
      'PlannedSet',
      [{ setGroup: { trainingDay: { workout: { name: 'ASC' } } } }, { targetWeight: 'DESC' }],
    ],
    [
      'MealItem',
      [{ ingredientUnit: { householdUnit: { language: 'DESC_NULLS_LAST' } } }, { amount: 'ASC' }],
    ],
    ['DiaryEntry', [{ ingredientUnit: { grams: 'ASC_NULLS_FIRST' } }, { eatenAt: 'DESC' }]],
  ];

  for (const [type, orderBy] of orders) {
    const all = await whole(type, { orderBy });

    expect(await forward(type, { orderBy })).toEqual(all);
    expect(await backward(type, { orderBy })).toEqual(all);
  }
});

test.each(['PlannedSet', 'DiaryEntry'])(
  seeded('pages %s from both ends by more fields than have alternatives'),
  async (type) => {
    const nullCount = (path: string[]) =>
      [...rows.get(type)!.values()].filter((row) => valueAt(type, row, path) === null).length;
    // Fields with many nulls first, so that the first ones do not decide alone.
    const byNulls = paths(type, 2)
      .filter((path) => path.join() !== 'id')
      .sort((a, b) => nullCount(b) - nullCount(a));
    const directions = Object.keys(OrderDirection);
    const orderBy = byNulls
      .slice(0, 50)
      .map((path, index) => nested(path, directions[index % directions.length]));

    expect(orderBy.length).toBeGreaterThan(15);
    const all = await whole(type, { orderBy });

    expect(await forward(type, { orderBy })).toEqual(all);
    expect(await backward(type, { orderBy })).toEqual(all);
  },
);

test('the condition for the rows after a cursor grows linearly with the number of terms', () => {
  const lengthFor = (count: number) => {
    const terms = Array.from({ length: count }, (_, index) => ({
      cursorKey: `k${index}`,
      sql: `t."k${index}"`,
      kind: 'integer' as const,
      isNullable: true,
      descending: false,
      nullsFirst: false,
    }));
    const values = terms.map((_, index) => index);

    return afterBranches(terms, values, () => '$1').join('').length;
  };

  expect(lengthFor(50)).toBeLessThan(2.5 * lengthFor(25));
});

describe('an order by relevance', () => {
  const where = { notes: { search: 'squat' } };

  // Changes some rows so that the search finds them, several with equal rank.
  beforeAll(() =>
    fitgraph.sql(
      `UPDATE "setting" SET "comment" = (ARRAY['Squat', 'Front squat', 'squat'])[1 + "id" % 3] WHERE "id" IN (SELECT "id" FROM "setting" ORDER BY "id" LIMIT 6)`,
    ),
  );

  test.each([
    ['with a second field', [{ relevance: 'DESC' }, { targetWeight: 'ASC' }]],
    ['in ascending direction', [{ relevance: 'ASC' }]],
    ['as the default of a search', undefined],
  ])(seeded('pages the whole list from both ends %s'), async (_name, orderBy) => {
    const args = { where, orderBy };
    const all = await whole('PlannedSet', args);

    expect(all.length).toBeGreaterThan(3);
    expect(await forward('PlannedSet', args)).toEqual(all);
    expect(await backward('PlannedSet', args)).toEqual(all);
  });
});
