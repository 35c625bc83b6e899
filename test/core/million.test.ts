/** Paging by cursor through a million rows, while another client inserts and deletes. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const ROWS = 1_000_000;
const PAGE = 999;
/** So many rows have the same day: the id decides among them. */
const SAME_DAY = 5_000;

const fitgraph = fitgraphForThisFile();

const PAGES = `query ($after: String) {
  workouts(first: ${PAGE}, after: $after, orderBy: [{ creationDate: DESC }]) { nodes { id comment } pageInfo { hasNextPage endCursor } } }`;

test('each row that stays is visited once, and the last page costs what the first one does', async () => {
  const ann = await fitgraph.user('ann');
  const client = await fitgraph.database.pool.connect();
  // However busy the machine is: the rows are no request.
  await client.query('SET statement_timeout = 0');
  // The log of changes is not what is tried here.
  await client.query('SET session_replication_role = replica');
  await client.query(
    `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT date '2020-01-01' + n / ${SAME_DAY}, 'stays', $1 FROM generate_series(1, $2) n`,
    [ann.id, ROWS],
  );
  await client.query('RESET session_replication_role');
  await client.query('ANALYZE "workout"');

  let paging = true;
  let disturbed = 0;
  const disturb = async () => {
    while (paging) {
      // Before, behind and in the middle of what is being read.
      const { rows } = await client.query(
        `INSERT INTO "workout" ("creation_date", "comment", "user_id")
           SELECT date '2020-01-01' + (random() * 220)::int - 10, 'comes and goes', $1 FROM generate_series(1, 10) RETURNING "id"`,
        [ann.id],
      );
      await client.query('DELETE FROM "workout" WHERE "id" = ANY($1) AND random() < 0.7', [rows.map(({ id }) => id)]);
      disturbed += 1;
    }
  };
  const disturbing = disturb();

  const seen = new Set<string>();
  let twice = 0;
  const times: number[] = [];
  for (let after: string | null = null, more = true; more;) {
    const began = performance.now();
    const { workouts } = await ann.ask(PAGES, { after });
    times.push(performance.now() - began);
    for (const { id, comment } of workouts.nodes) {
      if (seen.has(id)) twice += 1;
      if (comment === 'stays') seen.add(id);
    }
    after = workouts.pageInfo.endCursor;
    more = workouts.pageInfo.hasNextPage;
  }
  paging = false;
  await disturbing;
  client.release();
  expect(twice).toBe(0);
  expect(seen.size).toBe(ROWS);
  expect(disturbed).toBeGreaterThan(100);
  const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;
  const [first, last] = [median(times.slice(10, 110)), median(times.slice(-100))];
  expect(last).toBeLessThan(first * 3);
}, 300_000);
