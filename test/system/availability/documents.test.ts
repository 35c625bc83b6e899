/** Small anonymous GraphQL requests that once took too much time or memory. */
import { LIVENESS_LIMIT_MS, graphql, MEMORY_MB, Siege, type Reply } from './server-under-attack';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

/**
 * Sends a request, which must be answered or rejected in time while the server stays responsive and
 * within its memory limit.
 */
async function expectHarmless(attack: () => Promise<Reply>): Promise<Reply> {
  const { result, aliveMs, answerLimitMs, memoryMb } = await siege.measureDuring(attack);

  expect(result.status).toBeGreaterThanOrEqual(200);
  expect(result.status).not.toBe(500);
  expect(result.ms).toBeLessThan(answerLimitMs);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
  return result;
}

const doublingFragments = (levels: number) =>
  `{ viewer { ...F0 } } ${Array.from({ length: levels }, (_, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`).join(' ')} fragment F${levels} on User { id }`;

test('handles 200 levels of fragments that each spread the next one twice', async () => {
  expect(
    JSON.parse((await expectHarmless(() => graphql(siege.base, doublingFragments(30)))).text),
  ).toEqual({ data: { viewer: null } });
  expect((await expectHarmless(() => graphql(siege.base, doublingFragments(200)))).text).toContain(
    'GRAPHQL_VALIDATION_FAILED',
  );
});

test('returns a short error without suggestions for 10,000 unknown keys in a variable', async () => {
  const input = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`wrong${index}`, 1]),
  );
  const { text } = await expectHarmless(() =>
    graphql(
      siege.base,
      'query ($where: ExerciseWhere) { exercises(where: $where) { totalCount } }',
      { where: input },
    ),
  );

  expect(text).not.toContain('Did you mean');
  expect(text.length).toBeLessThan(10_000);
});

test('rejects malformed and overlong decimals of 50,000 characters', async () => {
  const document =
    'query ($amount: Decimal!) { ingredients(first: 1) { nodes { valuesOf(amount: $amount) { energy } } } }';

  for (const amount of [
    '1'.repeat(50_000),
    `${' '.repeat(25_000)}1${' '.repeat(25_000)}`,
    `${'1'.repeat(50_000)}x`,
  ]) {
    expect((await expectHarmless(() => graphql(siege.base, document, { amount }))).text).toContain(
      'A valid number is required.',
    );
  }
});

test('answers 2,000 different operations within its memory limit', async () => {
  const { result, memoryMb } = await siege.measureDuring(async () => {
    let failed = 0;

    for (let batch = 0; batch < 100; batch += 1) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          graphql(
            siege.base,
            `{ a${batch}_${index}: exercises(first: 1) { nodes { id name b${batch}: name } } }`,
          ),
        ),
      );

      failed += answers.filter(({ status }) => status !== 200).length;
    }

    return failed;
  });

  expect(result).toBe(0);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('handles 800 aliased fields of a node', async () => {
  const fields = Array.from({ length: 800 }, (_, index) => `a${index}: nodeId`).join(' ');

  for (let run = 0; run < 8; run += 1) {
    await expectHarmless(() =>
      graphql(siege.base, `query ($id: ID!) { node(nodeId: $id) { ${fields} } }`, {
        id: 'RXhlcmNpc2U6MQ',
      }),
    );
  }
});

test('rejects deeply nested lists by their cost', async () => {
  const levels = (count: number): string =>
    count ? `exercises(first: 10000) { nodes { category { ${levels(count - 1)} } } }` : 'name';

  expect((await expectHarmless(() => graphql(siege.base, `{ ${levels(4)} }`))).text).toContain(
    'COST_LIMIT',
  );
  // The largest nesting that the limit allows.
  await expectHarmless(() =>
    graphql(
      siege.base,
      '{ exercises(first: 4000) { nodes { category { exercises(first: 40) { nodes { id name } } } } } }',
    ),
  );
});

test('rejects repeated introspection', async () => {
  const one =
    '{ name fields { name args { name type { name } } type { name ofType { name ofType { name } } } } }';
  const repeatedField = (field: string) =>
    `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: ${field}`).join(' ')} }`;

  expect(
    (await expectHarmless(() => graphql(siege.base, repeatedField(`__schema { types ${one} }`))))
      .text,
  ).toContain('is allowed only once');
  expect(
    (
      await expectHarmless(() =>
        graphql(siege.base, `{ __schema ${repeatedField(`types ${one}`)} }`),
      )
    ).text,
  ).toContain('COST_LIMIT');
});
