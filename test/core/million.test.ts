/** Paging by cursor through a million rows, while another client inserts and deletes. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const ROWS = 1_000_000;
const PAGE = 999;
/** So many rows have the same day: the id decides among them. */
const SAME_DAY = 5_000;

/** Of the first pages, and of the last ones. */
const COMPARED = 50;

const fitgraph = fitgraphForThisFile();

const PAGES = `query ($after: String) {
  workouts(first: ${PAGE}, after: $after, orderBy: [{ createdOn: DESC }]) { nodes { id name } pageInfo { hasNextPage endCursor } } }`;

test('each row that stays is visited once, and the last page costs what the first one does', async () => {
  const ann = await fitgraph.user('ann');
  // However busy the machine is: the rows are no request.
  await fitgraph.database.unlimited(async (filling) => {
    // The log of changes is not what is tried here.
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
  const cursors: string[] = [];
  for (let after: string | null = null, more = true; more;) {
    const { workouts } = await ann.ask(PAGES, { after });
    for (const { id, name } of workouts.nodes) {
      if (seen.has(id)) twice += 1;
      if (name === 'stays') seen.add(id);
    }
    more = workouts.pageInfo.hasNextPage;
    after = workouts.pageInfo.endCursor;
    if (more) cursors.push(after!);
  }
  paging = false;
  await disturbing;
  client.release();
  expect(twice).toBe(0);
  expect(seen.size).toBe(ROWS);
  expect(disturbed).toBeGreaterThan(100);
  // In turns, so that the machine is as busy for the ones as for the others.
  const took = { first: [] as number[], last: [] as number[] };
  for (let page = 0; page < COMPARED; page += 1)
    for (const [times, after] of [
      [took.first, cursors[10 + page]],
      [took.last, cursors.at(-2 - page)],
    ] as const) {
      const began = performance.now();
      const { workouts } = await ann.ask(PAGES, { after });
      times.push(performance.now() - began);
      expect(workouts.nodes).toHaveLength(PAGE);
    }
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
  expect(median(took.last)).toBeLessThan(median(took.first) * 3);
});
