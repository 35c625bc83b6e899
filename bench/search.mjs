// npm run bench:search: searches 3,000,000 ingredients, one request at a time: by a part of the name
// over REST; by words, brands and with typing errors over GraphQL; by barcode. Prints the hits, the
// response size, the median and the p99 of the request, and the median of its time in the database.
// BENCH_FOODS changes the number of ingredients, BENCH_CALLS that of requests.
import { Agent, get, request } from 'node:http';
import { BASE, withService } from './service.mjs';

const foods = Number(process.env.BENCH_FOODS ?? 3_000_000);
const calls = Number(process.env.BENCH_CALLS ?? 300);
const WARM_UP = 30;
const MAX_SEARCH_MS = 50;
const MAX_BARCODE_MS = 5;
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
const GRAPHQL_TERMS = [
  'a',
  'ch',
  'chicken',
  'chicken soup',
  'soup chick',
  'zuchini',
  'chiken soup',
  'smokd salmn',
  'organik',
  'choclate milk',
  'xyzzyx',
  'молоко',
  'молко',
  'Brandish 7',
];
const SEARCH =
  'query ($text: String!) { ingredients(where: { name: { search: $text } }, first: 20) { nodes { id name } } }';
const BARCODE = 'query ($text: String!) { ingredientByBarcode(code: $text) { id name } }';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Columns of the ingredients that are copied with other names. */
const COPIED =
  'creation_date, update_date, energy, protein, carbohydrates, carbohydrates_sugar, fat, fat_saturated, fibres, sodium, license_id, license_author, language_id, status';

/** Adds names with a vocabulary of 75,000 words, one of 1,000 in another script, brands, barcodes. */
const addIngredients = async (client) => {
  const { rows } = await client.query('SELECT count(*)::int AS "count" FROM "ingredient"');
  const copies = Math.ceil(foods / rows[0].count) - 1;

  await client.query(
    `INSERT INTO "ingredient" ("name", "brand", "code", ${COPIED})
      SELECT CASE WHEN i."id" % 1000 = 0 THEN 'молоко ' ELSE '' END || i."name" || ' '
          || translate(left(md5(((i."id" * 29 + n) % 75000)::text), 7), '0123456789', 'ghijklmnop'),
        'Brandish ' || i."id" % 5000, lpad((i."id" * 1000 + n)::text, 13, '4'), ${COPIED}
        FROM "ingredient" i, generate_series(1, ${copies}) n`,
  );
  await client.query('VACUUM (ANALYZE) "ingredient", "catalogue_word"');
};

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
const askGraphql = (query, text) =>
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

    clientRequest.end(JSON.stringify({ query, variables: { text } }));
  });

const databaseMsOf = ({ headers }) => Number(/db;dur=([\d.]+)/.exec(headers['server-timing'])[1]);

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function measureSearch(term, ask, hitsOf, maxMs = MAX_SEARCH_MS) {
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

  if (databaseMs > maxMs) process.exitCode = 1;
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(1).padStart(5));

  console.log(
    `${term.padEnd(14)} ${String(hits).padStart(6)} hits ${String(answer.length >> 10).padStart(4)} KB  p50 ${p50} ms  p99 ${p99} ms  database ${databaseMs.toFixed(1).padStart(5)} ms (at most ${maxMs})`,
  );
}

await withService({
  timing: 'on',
  prepare: addIngredients,
  async run() {
    for (const term of TERMS) {
      const url = `${BASE}/api/v2/ingredient/search/?language=en&term=${encodeURIComponent(term)}`;
      const suggestionsOf = ({ suggestions }) => suggestions;

      await measureSearch(term, () => searchByRest(url), suggestionsOf);
    }

    for (const term of GRAPHQL_TERMS) {
      const nodesOf = ({ data }) => data.ingredients.nodes;

      await measureSearch(term, () => askGraphql(SEARCH, term), nodesOf);
    }

    const foundOf = ({ data }) => [data.ingredientByBarcode];

    await measureSearch(
      'barcode',
      () => askGraphql(BARCODE, '4444444007001'),
      foundOf,
      MAX_BARCODE_MS,
    );
    agent.destroy();
  },
});
