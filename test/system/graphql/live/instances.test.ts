/**
 * Two instances on one database deliver every change to every subscriber exactly once, even when
 * one of them is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-sse';
import { createUser, getOrCreateApiKey } from '../../../../src/accounts/accounts';
import { TokenVault } from '../../../../src/accounts/tokens';
import { createDatabase, open, SECRET_KEY } from '../../../setup/databases';
import { Person } from '../../../setup/person';
import { build, Installation, type Server } from '../../../setup/server-process';
import { until } from '../../../setup/waits';

const SUBSCRIBERS = 6;
const WRITERS = 4;
const CHANGED =
  'subscription ($since: String) { changed(since: $since) { cursor changes { type rowId operation } } }';

let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
let installation: Installation;
let token: string;

beforeAll(async () => {
  build();
  testDatabase = await createDatabase('catalogue');
  const database = open(testDatabase.connection);
  const session = database.createSession();
  const id = await createUser({ username: 'ann', password: 'a good password' }, session);

  token = await getOrCreateApiKey(id, session, new TokenVault(SECRET_KEY));
  await database.close();
  installation = new Installation({ DATABASE_URL: testDatabase.url, SECRET_KEY });
});
afterAll(async () => {
  await installation.remove();
  await testDatabase.drop();
});

type Change = { type: string; rowId: string; operation: string };

/**
 * A subscriber that reconnects with its cursor to the other instance whenever the connection
 * breaks.
 */
class Subscriber {
  readonly received: Change[] = [];
  cursor: string | undefined;
  reconnections = 0;
  private ended = false;
  private disconnect = (): void => undefined;

  constructor(private readonly urls: string[]) {}

  async follow(): Promise<void> {
    while (!this.ended) {
      const client = createClient({
        url: `${this.urls[0]}/graphql/stream`,
        headers: { Authorization: `Token ${token}` },
        retryAttempts: 0,
      });

      this.disconnect = () => client.dispose();

      try {
        for await (const { data, errors } of client.iterate({
          query: CHANGED,
          variables: { since: this.cursor },
        })) {
          if (errors) throw new Error(errors[0]!.message);
          const { changed } = data as { changed: { cursor: string; changes: Change[] } };

          this.received.push(...changed.changes);
          this.cursor = changed.cursor;
        }
      } catch {
        this.urls.push(this.urls.shift()!);
        this.reconnections += 1;
        await sleep(20);
      }
    }
  }

  end(): void {
    this.ended = true;
    this.disconnect();
  }
}

test('delivers every change to each subscriber once when one of two instances is killed', async () => {
  const [one, two]: Server[] = [await installation.start(), await installation.start()];
  const urls = [one!.url, two!.url];
  const subscribers = Array.from(
    { length: SUBSCRIBERS },
    (_, index) => new Subscriber(index % 2 ? [...urls] : [...urls].reverse()),
  );
  const following = subscribers.map((subscriber) => subscriber.follow());

  await until('all subscribers have a cursor', () =>
    subscribers.every(({ cursor }) => cursor !== undefined),
  );
  const start = subscribers[0]!.cursor!;

  let writing = true;
  let written = 0;

  const write = async (writer: number) => {
    for (let n = 0; writing; n += 1) {
      const person = new Person(urls[(writer + n) % 2]!, { id: 0, token });
      // A killed instance does not respond. Its write is then either committed, and in the change
      // log, or rolled back.
      const answer = await person
        .post('/workout/', { comment: `${writer} ${n}` })
        .catch(() => undefined);

      if (answer?.status !== 201) continue;
      written += 1;
      const survivor = new Person(two!.url, { id: 0, token });

      if (n % 3 === 1) await survivor.patch(`/workout/${answer.body.id}/`, { comment: 'changed' });
      if (n % 3 === 2) await survivor.delete(`/workout/${answer.body.id}/`);
    }
  };

  const writers = Array.from({ length: WRITERS }, (_, index) => write(index));

  await until('some rows are written', () => written > 60);
  one!.process.kill('SIGKILL');
  const before = written;

  await until('more rows are written after the kill', () => written > before + 60);
  writing = false;
  await Promise.all(writers);

  const person = new Person(two!.url, { id: 0, token });
  const all: Change[] = [];

  for (let since = start, more = true; more;) {
    const { changes } = await person.ask(
      'query ($since: String) { changes(since: $since, first: 500) { cursor hasMore changes { type rowId operation } } }',
      { since },
    );

    all.push(...changes.changes);
    since = changes.cursor;
    more = changes.hasMore;
  }

  expect(all.length).toBeGreaterThan(150);
  await until('all subscribers have received all changes', () =>
    subscribers.every(({ received }) => received.length >= all.length),
  );
  for (const subscriber of subscribers) subscriber.end();
  await Promise.all(following);
  // Sorted, because changes of different rows arrive in the order of the commits, which may differ
  // from that of their numbers in the log.
  const sorted = (received: Change[]) =>
    received
      .map(({ type, rowId, operation }) => `${type} ${rowId.padStart(9)} ${operation}`)
      .sort();

  for (const { received } of subscribers) expect(sorted(received)).toEqual(sorted(all));
  expect(subscribers.filter(({ reconnections }) => reconnections > 0)).toHaveLength(
    SUBSCRIBERS / 2,
  );

  // Subscribers receive the creation of a row before its other changes.
  for (const { received } of subscribers) {
    for (const [index, { rowId, operation }] of received.entries()) {
      if (operation !== 'CREATED') {
        expect(received.slice(0, index)).toContainEqual({
          type: 'WORKOUT',
          rowId,
          operation: 'CREATED',
        });
      }
    }
  }
});
