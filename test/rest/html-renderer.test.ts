/**
 * Slots for rendering pages: slow pages of one client do not prevent others from getting theirs,
 * and a completed write is never reported as rejected.
 */
import { Client } from 'pg';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({
  environment: {
    TRUSTED_PROXIES: '127.0.0.1, ::1',
    ANONYMOUS_TIMEOUT: 'off',
    STATEMENT_TIMEOUT: 'off',
    LOCK_TIMEOUT: 'off',
  },
});
const PAGES_OF_ONE_CLIENT = 6;

const visitorFrom = (network: string) =>
  fitgraph.anonymous.withHeaders({ Accept: 'text/html', 'X-Forwarded-For': network });

/** Runs `work` while more pages of a client than it has slots wait for a locked table. */
async function whilePagesWait(client: Person, work: () => Promise<void>): Promise<void> {
  const blocker = new Client(fitgraph.database.options.connection);

  await blocker.connect();
  const pages: Promise<unknown>[] = [];

  try {
    await blocker.query('BEGIN; LOCK TABLE "exercise" IN ACCESS EXCLUSIVE MODE');
    for (let page = 0; page < PAGES_OF_ONE_CLIENT; page += 1) pages.push(client.get('/exercise/'));
    const countWaiting = `SELECT count(*)::int AS "count" FROM pg_stat_activity WHERE "wait_event_type" = 'Lock' AND "datname" = current_database()`;

    await until(
      'the pages wait for the lock',
      async () => (await fitgraph.sql(countWaiting))[0]!.count >= 2,
    );
    await work();
  } finally {
    await blocker.query('ROLLBACK');
    await blocker.end();
    await Promise.all(pages);
  }
}

test('serves pages to others while pages of one client wait', () =>
  whilePagesWait(visitorFrom('203.0.113.1'), async () => {
    const { status, text } = await visitorFrom('203.0.113.2').get('/muscle/');

    expect([status, text.toLowerCase().includes('<!doctype html>')]).toEqual([200, true]);
  }));

test('answers a write in JSON if its page cannot be rendered', async () => {
  const ann = await fitgraph.user('ann');
  const asPage = ann.withHeaders({ Accept: 'text/html' });

  await whilePagesWait(asPage, async () => {
    const { status, body } = await asPage.post('/weightentry/', {
      date: '2024-01-01',
      weight: '80',
    });

    expect([status, body.weight]).toEqual([201, '80.00']);
  });
  expect((await ann.get('/weightentry/')).body.count).toBe(1);
});

test('answers a write in JSON if its page is longer than the limit', async () => {
  const limited = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { MAX_RESPONSE_BYTES: '3kB' },
  });

  try {
    const asPage = (await limited.user('bob')).withHeaders({ Accept: 'text/html' });

    expect((await asPage.get('/workout/')).status).toBe(400);
    const { status, body } = await asPage.post('/workout/', { comment: 'Push' });

    expect([status, body.comment]).toEqual([201, 'Push']);
  } finally {
    await limited.stop();
  }
});
