/** Pages of a list, from both ends and in every order. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { randomFor, seeded } from '../../setup/random';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let plan: number;

/** Maps each diary entry of the plan to the set group with the same values, by id. */
let entries: Map<number, number>;

interface Row {
  id: number;
  position: number | null;
  sets: number;
}
let rows: Row[];

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const workout = (await ann.post('/workout/', {})).body.id;
  const day = (await ann.post('/day/', { training: workout, description: 'Monday', day: [1] })).body
    .id;

  plan = (await ann.post('/nutritionplan/', {})).body.id;
  rows = [];
  entries = new Map();

  // The values include ties and nulls, and are not in order.
  for (const [position, sets] of [
    [2, 1],
    [null, 4],
    [1, 3],
    [2, 1],
    [null, 2],
    [3, 3],
    [1, 1],
  ] as const) {
    const { id } = (await ann.post('/set/', { exerciseday: day, order: position, sets })).body;

    rows.push({ position, sets, id });
    const entry = { plan, ingredient: 1, weight_unit: position, amount: sets };

    entries.set((await ann.post('/nutritiondiary/', entry)).body.id, id);
  }
});

type Order = 'ASC' | 'DESC';
type Terms = [keyof Row, Order][];

const ORDERS: [string, Terms][] = [
  ['position ascending, nulls last', [['position', 'ASC']]],
  ['position descending, nulls first', [['position', 'DESC']]],
  // prettier-ignore
  ['sets ascending and position descending', [['sets', 'ASC'], ['position', 'DESC']]],
  // prettier-ignore
  ['position ascending and sets descending', [['position', 'ASC'], ['sets', 'DESC']]],
  ['id ascending', [['id', 'ASC']]],
  ['id descending', [['id', 'DESC']]],
];

/**
 * Sorts the rows as PostgreSQL does, with null as the largest value and ties broken by id, and
 * returns their ids.
 */
function inOrder(terms: Terms): number[] {
  const compare = (a: number | null, b: number | null) => (a ?? Infinity) - (b ?? Infinity) || 0;

  return [...rows]
    .sort((a, b) => {
      for (const [field, direction] of [...terms, ['id', 'ASC'] as const]) {
        const [left, right] = [a[field], b[field]];
        const found = left === right ? 0 : compare(left, right);

        if (found) return direction === 'ASC' ? found : -found;
      }

      return 0;
    })
    .map(({ id }) => id);
}

const DOCUMENT = `query ($first: Int, $after: String, $last: Int, $before: String, $offset: Int, $orderBy: [SetGroupOrder!]) {
  page: setGroups(first: $first, after: $after, last: $last, before: $before, offset: $offset, orderBy: $orderBy) {
    totalCount edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

/**
 * The same query for the diary entries below their plan, which have the same values as the set
 * groups.
 */
const NESTED_DOCUMENT = DOCUMENT.replace('SetGroupOrder', 'DiaryEntryOrder')
  .replace(') {', ', $plan: ID!) { nutritionPlan(id: $plan) {')
  .replace('setGroups', 'diaryEntries')
  .concat('}');
const NESTED_ORDER: Record<keyof Row, (direction: Order) => object> = {
  position: (direction) => ({ ingredientUnit: { id: direction } }),
  sets: (direction) => ({ amount: direction }),
  id: (direction) => ({ id: direction }),
};

const queryBelowPlan = (args: Record<string, unknown>, terms?: Terms) =>
  ann.query(NESTED_DOCUMENT, {
    ...args,
    plan,
    orderBy: terms?.map(([field, direction]) => NESTED_ORDER[field](direction)),
  });

/** Returns the ids of the set groups that correspond to diary entries. */
const idsOf = (nodes: { id: string }[]) => nodes.map(({ id }) => entries.get(Number(id)));

const query = (args: Record<string, unknown>, terms?: Terms) =>
  ann.query(DOCUMENT, {
    ...args,
    orderBy: terms?.map(([field, direction]) => ({ [field]: direction })),
  });

async function page(args: Record<string, unknown>, terms?: Terms) {
  const { data, errors } = await query(args, terms);

  expect(errors).toBeUndefined();
  const { totalCount, edges, nodes, pageInfo } = data.page;

  expect(totalCount).toBe(rows.length);
  expect(edges.map(({ node }: any) => node)).toEqual(nodes);
  expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([
    edges[0]?.cursor ?? null,
    edges.at(-1)?.cursor ?? null,
  ]);

  return { ids: nodes.map(({ id }: any) => Number(id)) as number[], ...pageInfo };
}

describe.each(ORDERS)('a list ordered by %s', (_name, terms) => {
  test('is complete and in order', async () => {
    expect((await page({}, terms)).ids).toEqual(inOrder(terms));
  });
});

describe.each(ORDERS)('a random page of a list ordered by %s', (_name, terms) => {
  /** Computes a page from the whole list, according to the Relay connection specification. */
  function expectedPage(
    all: number[],
    { first, last, offset = 0, after, before }: Record<string, number | undefined>,
  ) {
    const inner = all.slice(
      after === undefined ? 0 : after + 1,
      before === undefined ? all.length : before,
    );
    const [more, fewer] = [before !== undefined, after !== undefined];

    if (last === undefined) {
      const ids = inner.slice(offset, offset + (first ?? 20));
      const skipped = offset > 0 && inner.length > 0;

      return {
        ids,
        hasNextPage: more || offset + (first ?? 20) < inner.length,
        hasPreviousPage: fewer || skipped,
      };
    }

    const end = Math.max(0, inner.length - offset);
    const skipped = offset > 0 && inner.length > 0;

    return {
      ids: inner.slice(Math.max(0, end - last), end),
      hasNextPage: more || skipped,
      hasPreviousPage: fewer || end > last,
    };
  }

  test(seeded('matches the connection specification at the root and below a parent'), async () => {
    const all = inOrder(terms);
    const cursors: string[] = (await query({}, terms)).data.page.edges.map(
      ({ cursor }: { cursor: string }) => cursor,
    );
    const nestedCursors: string[] = (
      await queryBelowPlan({}, terms)
    ).data.nutritionPlan.page.edges.map(({ cursor }: { cursor: string }) => cursor);
    const random = randomFor('windows of pages');
    const maybeBelow = (limit: number) => (random.chance(0.5) ? random.below(limit) : undefined);

    for (let round = 0; round < 60; round += 1) {
      const number = maybeBelow(5);
      const window = {
        [random.pick(['first', 'last'])]: number,
        offset: maybeBelow(9),
        after: maybeBelow(all.length),
        before: maybeBelow(all.length),
      };

      const withCursors = (allCursors: string[]) => {
        const cursorAt = (at: number | undefined) =>
          at === undefined ? undefined : allCursors[at];

        return { ...window, after: cursorAt(window.after), before: cursorAt(window.before) };
      };

      const { ids, hasNextPage, hasPreviousPage } = await page(withCursors(cursors), terms);

      expect({ window, ids, hasNextPage, hasPreviousPage }).toEqual({
        window,
        ...expectedPage(all, window),
      });
      const nested = (await queryBelowPlan(withCursors(nestedCursors), terms)).data.nutritionPlan
        .page;

      expect(idsOf(nested.nodes)).toEqual(ids);
      expect(nested.pageInfo).toMatchObject({ hasNextPage, hasPreviousPage });
    }
  });
});

test('reports hasNextPage and hasPreviousPage correctly when the row of a cursor was deleted', async () => {
  const day = (await ann.get(`/set/${rows[0]!.id}/`)).body.exerciseday;
  const { body } = await ann.post('/set/', { exerciseday: day, order: -1000, sets: 1 });
  const first = await query({ first: 1 }, [['position', 'ASC']]);
  const { startCursor } = first.data.page.pageInfo;

  expect(first.data.page.nodes).toEqual([{ id: String(body.id) }]);
  await ann.delete(`/set/${body.id}/`);
  const order = [['position', 'ASC']] as Terms;

  expect(await page({ first: 1, after: startCursor }, order)).toMatchObject({
    hasPreviousPage: false,
    hasNextPage: true,
  });
  expect(await page({ last: 1, after: startCursor }, order)).toMatchObject({
    hasPreviousPage: true,
    hasNextPage: false,
  });
  expect(await page({ first: 1, before: startCursor }, order)).toMatchObject({
    ids: [],
    hasPreviousPage: false,
    hasNextPage: true,
  });
});

test('uses the default order of the type when orderBy is omitted', async () => {
  expect((await page({})).ids).toEqual(inOrder([['position', 'ASC']]));
  expect((await page({ last: 2 })).ids).toEqual(inOrder([['position', 'ASC']]).slice(-2));
});

test('returns only the count when `first` is 0', async () => {
  expect(await page({ first: 0 })).toMatchObject({ ids: [], hasNextPage: true, startCursor: null });
});

test('keeps the pages after a cursor when a row is inserted before it', async () => {
  const { endCursor } = await page({ first: 3 });
  const day = (await ann.get(`/set/${rows[0]!.id}/`)).body.exerciseday;
  const { body } = await ann.post('/set/', { exerciseday: day, order: 0, sets: 1 });
  const next = await query({ first: 2, after: endCursor });

  await ann.delete(`/set/${body.id}/`);
  expect(next.data.page.nodes.map(({ id }: any) => Number(id))).toEqual(
    inOrder([['position', 'ASC']]).slice(3, 5),
  );
});

describe('an invalid page request', () => {
  const expectRejection = async (
    args: Record<string, unknown>,
    fields: Record<string, unknown>,
    terms?: Terms,
  ) => {
    const { data, code, errors } = await query(args, terms);

    expect([data, code]).toEqual([{ page: null }, 'BAD_USER_INPUT']);
    expect(messagesByPath(errors![0]!)).toEqual(fields);
  };

  test.each([
    [{ first: 10_001 }, { first: ['Ensure this value is less than or equal to 10000.'] }],
    [{ last: 10_001 }, { last: ['Ensure this value is less than or equal to 10000.'] }],
    [{ first: -1 }, { first: ['Ensure this value is greater than or equal to 0.'] }],
    [{ offset: -1 }, { offset: ['Ensure this value is greater than or equal to 0.'] }],
    [{ first: 1, last: 1 }, { last: ['Use either first or last, not both.'] }],
    [{ after: 'nonsense' }, { after: ['This is not a valid cursor for this list.'] }],
    [
      { before: Buffer.from('[1]').toString('base64url') },
      { before: ['This is not a valid cursor for this list.'] },
    ],
    [
      { after: Buffer.from('{"a":1}').toString('base64url') },
      { after: ['This is not a valid cursor for this list.'] },
    ],
  ])('with %j is rejected', (args, fields) => expectRejection(args, fields));

  test('with a cursor of another order is rejected', async () => {
    const { endCursor } = await page({ first: 1 }, [['sets', 'ASC']]);
    const message = ['This cursor belongs to a different order or search.'];

    await expectRejection({ after: endCursor }, { after: message }, [['position', 'DESC']]);
    // prettier-ignore
    await expectRejection({ before: endCursor }, { before: message }, [['id', 'DESC'], ['sets', 'ASC']]);
    await expectRejection({ after: endCursor }, { after: message }, [['sets', 'DESC']]);
  });

  test('with a cursor of wrong value types is rejected', async () => {
    const forgedCursor = (...values: unknown[]) =>
      Buffer.from(JSON.stringify(['position,id', ...values])).toString('base64url');

    for (const after of [
      forgedCursor('x', 1),
      forgedCursor(1, 'x'),
      forgedCursor(true, 1),
      forgedCursor(1e99, 1),
      forgedCursor(1.5, 1),
      forgedCursor('1; SELECT 1', 1),
      forgedCursor(1, null),
    ]) {
      await expectRejection({ after }, { after: ['This is not a valid cursor for this list.'] });
    }

    const nullId = Buffer.from(JSON.stringify(['id', null])).toString('base64url');

    await expectRejection(
      { last: 1, after: nullId },
      { after: ['This is not a valid cursor for this list.'] },
      [['id', 'ASC']],
    );
  });
});

describe('a nested list', () => {
  test('has its own page for each parent', async () => {
    const document =
      '{ householdUnits { nodes { id ingredientUnits(first: 2) { totalCount nodes { householdUnitId } pageInfo { hasNextPage } } } } }';

    await fitgraph.sql(
      `INSERT INTO "household_unit" ("id", "language_id", "name") VALUES (50, 2, 'Zip'), (51, 2, 'Spoon')`,
    );
    await fitgraph.sql(
      `INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "gram") VALUES (1, 51, 5)`,
    );
    const { nodes } = (await ann.ask(document)).householdUnits;

    expect(nodes).toEqual([
      {
        id: '1',
        ingredientUnits: {
          totalCount: 3,
          nodes: [{ householdUnitId: '1' }, { householdUnitId: '1' }],
          pageInfo: { hasNextPage: true },
        },
      },
      {
        id: '51',
        ingredientUnits: {
          totalCount: 1,
          nodes: [{ householdUnitId: '51' }],
          pageInfo: { hasNextPage: false },
        },
      },
      { id: '50', ingredientUnits: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } } },
    ]);
  });

  test('is rejected when its page is too large', async () => {
    expect((await queryBelowPlan({ first: 10_001 })).errors![0]!.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      inputErrors: [{ path: ['first'], message: expect.anything() }],
    });
  });
});
