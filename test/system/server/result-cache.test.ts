/** Kept responses of several workers. */
import { Client } from 'pg';
import { openEmbeddedDatabase, type EmbeddedDatabase } from '../../../src/database/embedded';
import { graphql, send } from '../availability/server-under-attack';
import {
  build,
  DEFAULT_WORKER_TIMEOUT,
  Installation,
  type Server,
} from '../../setup/server-process';
import { until } from '../../setup/waits';

let installation: Installation;
let server: Server;
let database: EmbeddedDatabase;
let client: Client;

beforeAll(async () => {
  build();
  installation = await Installation.started(DEFAULT_WORKER_TIMEOUT);
  server = await installation.start({ WEB_CONCURRENCY: '2' });
  await until('both workers serve', () => server.stdout.split('"ready"').length > 2);
  database = await openEmbeddedDatabase({ dataDir: installation.dataDir });
  client = new Client(database.connection);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.release();
  await installation.remove();
});

const WRITES = 50;
const READS_PER_WRITE = 6;

test('no read is older than an acknowledged write of another worker', async () => {
  const { stdout } = await installation.command(
    'user',
    'create',
    'curator',
    '--superuser',
    '--password',
    'password of the curator',
  );
  const headers = { Authorization: `Token ${/\b[0-9a-f]{40}\b/.exec(stdout)![0]}` };
  const path = '/api/v2/ingredient/1/';
  const readAtAllWorkers = () =>
    Promise.all(Array.from({ length: READS_PER_WRITE }, () => send(server.url, { path })));
  let keptCount = 0;

  for (let energy = 1; energy <= WRITES; energy += 1) {
    const before = await readAtAllWorkers();

    keptCount += before.filter((answer) =>
      /desc="0 statements"/.test(String(answer.headers['server-timing'])),
    ).length;
    // Notifications do not arrive in time.
    const pids = await listenerPids();

    for (const pid of pids) process.kill(pid, 'SIGSTOP');

    try {
      const { text } = await graphql(
        server.url,
        'mutation ($energy: Int!) { updateIngredient(id: "1", input: { energy: $energy, protein: "0", carbohydrates: "0", fat: "0" }) { errors { message } ingredient { energy } } }',
        { energy },
        headers,
      );

      expect(text).toContain(`"energy":${energy}}`);
      expect((await readAtAllWorkers()).map((answer) => JSON.parse(answer.text).energy)).toEqual(
        Array<number>(READS_PER_WRITE).fill(energy),
      );
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
  }

  expect(keptCount).toBeGreaterThan(WRITES);
});

/** The server processes of PostgreSQL that send notifications. */
async function listenerPids(): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT "pid" FROM pg_stat_activity WHERE "application_name" LIKE 'fitgraph listener%'`,
  );

  expect(rows).toHaveLength(2);
  return rows.map(({ pid }) => pid);
}
