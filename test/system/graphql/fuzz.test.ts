/**
 * Executes random documents with our executor and with graphql-js. FUZZ_DOCUMENTS sets their number
 * (`npm run fuzz`: 50,000).
 */
import { MAX_ERRORS_PER_RESPONSE } from '../../../src/engine/declare/errors';
import { Executor } from '../../../src/engine/execution/executor';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { createOwnedRows } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { randomFor, SEED, seeded } from '../../setup/random';
import { compareWithReference, Contexts } from './fuzz/differential';
import { Documents } from './fuzz/documents';
import { LONG_TIMEOUT_MS } from '../../setup/waits';

const count = Number(process.env.FUZZ_DOCUMENTS ?? 2000);

jest.setTimeout(LONG_TIMEOUT_MS + count * 600);

/** A low number, so that most results are built in several turns of the event loop. */
const VALUES_PER_TURN = 10;

const fitgraph = fitgraphForThisFile();

/**
 * All timers but the clock, which stops, so that defaults such as the time of a diary entry are
 * equal in both runs.
 */
const REAL_TIMERS = [
  ...([
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const),
  ...(['hrtime', 'nextTick', 'queueMicrotask'] as const),
];

beforeAll(() => void jest.useFakeTimers({ now: Date.now(), doNotFake: REAL_TIMERS }));
afterAll(() => void jest.useRealTimers());

test(seeded(`executes ${count} random documents like graphql-js`), async () => {
  const people = [await fitgraph.user('ann'), await fitgraph.user('bob')];

  for (const person of people) await createOwnedRows(person);
  const schema = buildGraphQLSchema();
  const executor = new Executor(schema, { valuesPerEventLoopTurn: VALUES_PER_TURN });
  const random = randomFor('documents');
  const documents = new Documents(schema, random);
  const contexts = new Contexts(fitgraph);
  const counts = { compared: 0, refused: 0, invalid: 0, tooLarge: 0, mutations: 0 };
  const found: string[] = [];

  for (let number = 0; counts.compared < count && found.length < 10; number += 1) {
    const request = documents.next();
    const token = random.chance(0.85) ? random.pick(people).token : undefined;
    const { invalid, isRejected, isTooLarge, difference } = await compareWithReference(
      request,
      executor,
      fitgraph,
      contexts,
      token,
    );

    if (invalid) counts.invalid += 1;
    else if (isTooLarge) counts.tooLarge += 1;
    else counts.compared += 1;
    if (isRejected) counts.refused += 1;
    if (!invalid && request.kind === 'mutation') counts.mutations += 1;

    if (difference) {
      found.push(
        `document ${number} of seed ${SEED}: ${difference}\n${request.text}\n${JSON.stringify(request.variables)}`,
      );
    }
  }

  expect(found).toEqual([]);
  // Most documents must be comparable, or the test would be ineffective.
  expect(counts.invalid).toBeLessThan(counts.compared / 2);
  expect(counts.refused).toBeLessThan(counts.compared / 2);
  expect(counts.tooLarge).toBeLessThan(counts.compared / 100);
});

test('compares documents with more errors than a response contains', async () => {
  const { token } = await fitgraph.user('ann');
  const schema = buildGraphQLSchema();
  const fields = Array.from(
    { length: MAX_ERRORS_PER_RESPONSE + 5 },
    (_, index) => `a${index}: exercise(id: "none") { id }`,
  );
  const request = { kind: 'query', text: `{ ${fields.join(' ')} }`, variables: {} } as const;
  const outcome = await compareWithReference(
    request,
    new Executor(schema),
    fitgraph,
    new Contexts(fitgraph),
    token,
  );

  expect(outcome).toEqual({ isRejected: false, difference: undefined });
});
