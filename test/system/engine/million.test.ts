/** Paging by cursor through a million rows, while another client inserts and deletes. */
import { fitgraphForThisFile } from '../../setup/fitgraph';

const ROWS = 1_000_000;
const PAGE = 999;

/** Number of rows per day. Rows of the same day are ordered by id. */
const SAME_DAY = 5_000;

/** Number of first and of last pages whose response times are compared. */
const COMPARED = 50;

const fitgraph = fitgraphForThisFile();

const PAGES = `query ($after: String) {
  workouts(first: ${PAGE}, after: $after, orderBy: [{ createdOn: DESC }]) { nodes { id name } pageInfo { hasNextPage endCursor } } }`;

test('visits a million rows once each, and reads the last pages about as fast as the first', async () => {
  const ann = await fitgraph.user('ann');

  // Without a statement timeout, because filling the table is not under test.
  await fitgraph.database.withoutTimeouts(async (filling) => {
    // Without the triggers of the change log, which is not under test.
    await filling.query('ALTER TABLE "workout" DISABLE TRIGGER USER');
    await filling.query(
      `INSERT INTO "workout" ("creation_date", "comment", "user_id") SELECT date '2020-01-01' + n / ${SAME_DAY}, 'stays', $1 FROM generate_series(1, $2) n`,
      [ann.id, ROWS],
    );
    await filling.query('ALTER TABLE "workout" ENABLE TRIGGER USER');
    await filling.query('ANALYZE "workout"');
  });

  const client = await fitgraph.database.pool.connect();
  let paging = true;
  let disturbed = 0;

  const disturb = async () => {
    await client.query('SELECT setseed(0.5)');

    while (paging) {
      // Inserts rows with dates before, after and among those of the rows being read.
      const { rows } = await client.query(
        `INSERT INTO "workout" ("creation_date", "comment", "user_id")
           SELECT date '2020-01-01' + (random() * 220)::int - 10, 'comes and goes', $1 FROM generate_series(1, 10) RETURNING "id"`,
        [ann.id],
      );

      await client.query('DELETE FROM "workout" WHERE "id" = ANY($1) AND random() < 0.7', [
        rows.map(({ id }) => id),
      ]);
      disturbed += 1;
    }
  };

  const disturbing = disturb();

  const seen = new Set<string>();
  let duplicates = 0;
  const cursors: string[] = [];

  for (let after: string | null = null, more = true; more;) {
    const { workouts } = await ann.ask(PAGES, { after });

    for (const { id, name } of workouts.nodes) {
      if (seen.has(id)) duplicates += 1;
      if (name === 'stays') seen.add(id);
    }

    more = workouts.pageInfo.hasNextPage;
    after = workouts.pageInfo.endCursor;
    if (more) cursors.push(after!);
  }

  paging = false;
  await disturbing;
  client.release();
  expect(duplicates).toBe(0);
  expect(seen.size).toBe(ROWS);
  expect(disturbed).toBeGreaterThan(100);
  // Alternates between first and last pages, so that other load on the machine affects both alike.
  const took = { first: [] as number[], last: [] as number[] };

  for (let page = 0; page < COMPARED; page += 1) {
    for (const [times, after] of [
      [took.first, cursors[10 + page]],
      [took.last, cursors.at(-2 - page)],
    ] as const) {
      const began = performance.now();
      const { workouts } = await ann.ask(PAGES, { after });

      times.push(performance.now() - began);
      expect(workouts.nodes).toHaveLength(PAGE);
    }
  }

  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

  expect(median(took.last)).toBeLessThan(median(took.first) * 3);
});
