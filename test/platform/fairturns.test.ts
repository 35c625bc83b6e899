/** Fair turns: the order of clients, and one piece of work per event-loop turn. */
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { awaitTurn } from '../../src/platform/fairturns';

/** Starts work by name, all at once. Returns the names in the order in which the work ran, each with the number of the event-loop turn. */
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

test('does one piece of work per event-loop turn', async () => {
  const turns = (await run(Array<string>(20).fill('a'))).map(([, turn]) => turn);
  expect(new Set(turns).size).toBe(20);
});

test('serves networks in turn, and the users of each network in turn', async () => {
  const names = (await run(['a', 'a 1', 'a 1', 'a 1', 'a 2', 'b 3', 'b 3', 'c'])).map(([name]) => name);
  expect(names).toEqual(['a', 'a 1', 'b 3', 'c', 'a 2', 'b 3', 'a 1', 'a 1']);
});
