/** Fair turns: the order of clients, and the work of one event-loop turn. */
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { awaitTurn, longestWaitMs, startRequestInTurn } from '../../src/shared/fair-turns';

// A clock that only these tests move: a real one may pass the time of a turn while the process waits
// for a processor.
let now = 1_000;

beforeEach(() => {
  now += 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

/**
 * Starts work by name, all at once. Returns the names in the order in which the work ran, each with
 * the number of the event-loop turn.
 */
async function run(names: readonly string[]): Promise<[name: string, turn: number][]> {
  await nextEventLoopTurn();
  await nextEventLoopTurn();
  const ran: [string, number][] = [];
  let turn = 0;

  const countTurns = () => {
    turn += 1;
    if (ran.length < names.length) setImmediate(countTurns);
  };

  setImmediate(countTurns);
  await Promise.all(
    names.map(async (name) => {
      const [network = '', user] = name.split(' ');

      await awaitTurn({ network, userId: user === undefined ? undefined : Number(user) });
      ran.push([name, turn]);
    }),
  );

  return ran;
}

test('starts work at once when nothing else runs', async () => {
  expect(await run(['a'])).toEqual([['a', 0]]);
});

test('does no more work per event-loop turn when it takes long', async () => {
  await nextEventLoopTurn();
  const turns: number[] = [];
  let turn = 0;
  const countTurns = () => void ((turn += 1) < 10 && setImmediate(countTurns));

  setImmediate(countTurns);

  for (let count = 0; count < 4; count += 1) {
    await awaitTurn({ network: 'a', userId: undefined });
    turns.push(turn);
    now += 6;
  }

  expect(turns).toEqual([0, 1, 2, 3]);
});

test('does the short work of many clients in few event-loop turns', async () => {
  const turns = (await run(Array<string>(20).fill('a'))).map(([, turn]) => turn);

  expect(Math.max(...turns)).toBeLessThan(5);
});

test('serves networks in turn, and the users of each network in turn', async () => {
  const names = (await run(['first', 'a 1', 'a 1', 'a 1', 'a 2', 'b 3', 'b 3', 'c'])).map(
    ([name]) => name,
  );

  expect(names).toEqual(['first', 'a 1', 'b 3', 'c', 'a 2', 'b 3', 'a 1', 'a 1']);
});

test('starts at most 200 waiting requests of a network, after a wait that is told', async () => {
  await nextEventLoopTurn();
  const waits: number[] = [];

  for (let count = 0; count < 202; count += 1) {
    startRequestInTurn('a', (waitedMs) => waits.push(waitedMs));
  }

  expect(waits).toEqual([0, Infinity]);
  now += 6;
  expect(longestWaitMs()).toBe(0);
  startRequestInTurn('b', (waitedMs) => waits.push(waitedMs));
  now += 2;
  expect(longestWaitMs()).toBe(2);
  while (waits.length < 203) await nextEventLoopTurn();
  expect(waits.slice(2)).toEqual([8, 2, ...Array<number>(199).fill(8)]);
});

test('goes on after work that fails', async () => {
  await nextEventLoopTurn();

  const fail = () => {
    throw new Error('failed');
  };

  expect(() => startRequestInTurn('a', fail)).toThrow('failed');
  await awaitTurn({ network: 'a', userId: undefined });
});
