// npm run bench:search: searches 150,000 ingredients, one request at a time: by a part of the name
// over REST, and with typing errors over GraphQL. Prints the hits, the response size, the median
// and the p99 of the request, and the median of its time in the database. BENCH_CALLS changes the
// number of requests.
import { Agent, get, request } from 'node:http';
import { BASE, withService } from './service.mjs';

const calls = Number(process.env.BENCH_CALLS ?? 300);
const WARM_UP = 30;
const MAX_DATABASE_MS = 20;
const TERMS = [
  'zucchini',
  'chicken soup',
  'smoked salmon',
  'tofu',
  'Organic',
  'xyzzy',
  'a',
  'e',
  'ch',
  'ki',
  'zz',
  'xx',
  'q',
  'ä',
  'e s',
];
const TERMS_WITH_TYPOS = [
  'zuchini',
  'chiken soup',
  'smokd salmn',
  'tofuu',
  'organik',
  'choclate milk',
  'xyzzyx',
];
const DOCUMENT =
  'query ($text: String!) { ingredients(where: { name: { search: $text } }) { nodes { id name } } }';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Names beyond those of the other benchmarks. */
const ADD_INGREDIENTS_SQL = `INSERT INTO ingredient (name, creation_date, update_date, energy, protein, carbohydrates, carbohydrates_sugar, fat, fat_saturated, fibres, sodium, license_id, license_author, language_id, status)
  SELECT name || ' II', creation_date, update_date, energy, protein, carbohydrates, carbohydrates_sugar, fat, fat_saturated, fibres, sodium, license_id, license_author, language_id, status
  FROM ingredient ORDER BY id LIMIT 50000; ANALYZE ingredient`;

/**
 * Returns the chunks of a response and its time in the database. The chunks are not parsed while
 * time is measured, so that only the service is measured.
 */
const searchByRest = (url) =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const chunks = [];

      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ chunks, databaseMs: databaseMsOf(response) }));
    }).on('error', reject);
  });

/** Does the same for a GraphQL search. */
const searchByGraphql = (text) =>
  new Promise((resolve, reject) => {
    const clientRequest = request(
      `${BASE}/graphql`,
      { agent, method: 'POST', headers: { 'Content-Type': 'application/json' } },
      (response) => {
        const chunks = [];

        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ chunks, databaseMs: databaseMsOf(response) }));
      },
    ).on('error', reject);

    clientRequest.end(JSON.stringify({ query: DOCUMENT, variables: { text } }));
  });

const databaseMsOf = ({ headers }) => Number(/db;dur=([\d.]+)/.exec(headers['server-timing'])[1]);

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function measureSearch(term, ask, hitsOf) {
  const times = [];
  const databaseTimes = [];
  let response;

  for (let call = -WARM_UP; call < calls; call++) {
    const began = performance.now();

    response = await ask();
    if (call < 0) continue;
    times.push(performance.now() - began);
    databaseTimes.push(response.databaseMs);
  }

  for (const list of [times, databaseTimes]) list.sort((a, b) => a - b);
  const answer = Buffer.concat(response.chunks);
  const hits = hitsOf(JSON.parse(answer)).length;
  const databaseMs = quantile(databaseTimes, 0.5);

  if (databaseMs > MAX_DATABASE_MS) process.exitCode = 1;
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(1).padStart(5));

  console.log(
    `${term.padEnd(14)} ${String(hits).padStart(6)} hits ${String(answer.length >> 10).padStart(4)} KB  p50 ${p50} ms  p99 ${p99} ms  database ${databaseMs.toFixed(1).padStart(5)} ms (at most ${MAX_DATABASE_MS})`,
  );
}

await withService({
  timing: 'on',
  prepare: (client) => client.query(ADD_INGREDIENTS_SQL),
  async run() {
    for (const term of TERMS) {
      const url = `${BASE}/api/v2/ingredient/search/?language=en&term=${encodeURIComponent(term)}`;
      const suggestionsOf = ({ suggestions }) => suggestions;

      await measureSearch(term, () => searchByRest(url), suggestionsOf);
    }

    for (const term of TERMS_WITH_TYPOS) {
      const nodesOf = ({ data }) => data.ingredients.nodes;

      await measureSearch(term, () => searchByGraphql(term), nodesOf);
    }

    agent.destroy();
  },
});
