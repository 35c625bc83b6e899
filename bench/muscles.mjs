// npm run bench:muscles: weekly hard sets per muscle over GraphQL, one request at a time, each by a
// different user, with 2,000,000 logs of 2,000 users. Prints the median and the p99; fails above 50
// ms. BENCH_CALLS changes the number of requests, BENCH_USERS the number of users with 1,000 logs
// each.
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { BASE, withService } from './service.mjs';

const calls = Number(process.env.BENCH_CALLS ?? 600);
const users = Number(process.env.BENCH_USERS ?? 2000);
const LOGS = 1000;
const WARM_UP = 100;
const MAX_P99_MS = 50;
const QUERY = '{ muscleVolume(by: WEEK, last: 1000) { bucket { start } muscleId hardSets } }';

const tokenOf = (user) => String(user).padStart(40, 'c');
const digestOf = (user) => createHash('sha256').update(tokenOf(user)).digest('hex');

/** Inserts two years of training, three days a week, with about 40 exercises. */
async function fill(client) {
  // Disables triggers, because the change log is not measured here.
  await client.query('SET session_replication_role = replica');
  await client.query(
    `INSERT INTO user_account (username, password) SELECT 'muscles' || i, '!' FROM generate_series(1, $1::int) i`,
    [users],
  );
  await client.query(
    `INSERT INTO user_profile (user_id) SELECT id FROM user_account WHERE username LIKE 'muscles%'`,
  );
  await client.query(
    `INSERT INTO workout (creation_date, user_id) SELECT '2024-01-01', id FROM user_account WHERE username LIKE 'muscles%'`,
  );
  await client.query(
    `INSERT INTO token (user_id, digest, sealed) SELECT u.id, decode(d, 'hex'), '' FROM unnest($1::text[]) WITH ORDINALITY t (d, i)
      JOIN user_account u ON u.username = 'muscles' || i`,
    [Array.from({ length: users }, (_, index) => digestOf(index + 1))],
  );
  // Inserts in the order of the dates, as in real use, so that the logs of one user are spread over
  // the table.
  await client.query(
    `INSERT INTO workout_log (reps, weight, date, rir, exercise_id, exercise_base_id, workout_id, weight_unit_id, mass_unit, user_id)
      SELECT 3 + n * 7 % 12, 20 + n % 100, date '2024-01-01' + n / 10 * 7 / 3, CASE n % 3 WHEN 0 THEN '2' END, e.id, e.exercise_base_id, w.id, 1 + n % 2,
        (ARRAY['kg', 'lb'])[1 + n % 2], w.user_id
      FROM generate_series(0, $1::int - 1) n, workout w JOIN user_account u ON u.id = w.user_id AND u.username LIKE 'muscles%',
        (SELECT array_agg(id ORDER BY id) AS ids FROM exercise) s, LATERAL (SELECT id, exercise_base_id FROM exercise WHERE id = s.ids[1 + (w.id + n * 13) % 40]) e
      ORDER BY n, w.id`,
    [LOGS],
  );
  await client.query('VACUUM ANALYZE workout_log');
  await client.query('SET session_replication_role = origin');
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const body = JSON.stringify({ query: QUERY });

const sendQuery = (user) =>
  new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Token ${tokenOf(user)}` };
    const clientRequest = request(
      `${BASE}/graphql`,
      { agent, method: 'POST', headers },
      (response) => {
        const chunks = [];

        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks)));
      },
    ).on('error', reject);

    clientRequest.end(body);
  });

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

await withService({
  prepare: fill,
  async run() {
    const times = [];
    let rows = 0;

    for (let call = -WARM_UP; call < calls; call += 1) {
      const user = 1 + (((call + WARM_UP) * 17) % users);
      const began = performance.now();
      const answer = await sendQuery(user);

      if (call >= 0) times.push(performance.now() - began);
      const { data, errors } = JSON.parse(answer);

      if (errors) throw new Error(JSON.stringify(errors));
      rows = data.muscleVolume.length;
    }

    times.sort((a, b) => a - b);
    const p99 = quantile(times, 0.99);

    if (p99 > MAX_P99_MS) process.exitCode = 1;
    console.log(
      `${users * LOGS} logs of ${users} users, ${rows} rows an answer: p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (wanted ${MAX_P99_MS})`,
    );
    agent.destroy();
  },
});
