// npm run bench:search: searches 100,000 ingredients, one request at a time: by a part of the name over REST, and with typing errors over GraphQL.
// Prints the hits, the response size, the median and the p99 for frequent and rare terms. BENCH_CALLS changes the number of requests.
import { Agent, get, request } from 'node:http';
import { BASE, withService } from './service.mjs';

const calls = Number(process.env.BENCH_CALLS ?? 300);
const WARM_UP = 30;
const MAX_P99_MS = 30;
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
const MAX_P99_WITH_TYPOS_MS = 50;
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

/** Returns the chunks of a response. They are not parsed while time is measured, so that only the service is measured. */
const searchByRest = (url) =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(chunks));
    }).on('error', reject);
  });

/** Returns the chunks of the response to a GraphQL search. */
const searchByGraphql = (text) =>
  new Promise((resolve, reject) => {
    const clientRequest = request(
      `${BASE}/graphql`,
      { agent, method: 'POST', headers: { 'Content-Type': 'application/json' } },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve(chunks));
      },
    ).on('error', reject);
    clientRequest.end(JSON.stringify({ query: DOCUMENT, variables: { text } }));
  });

const quantile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function measureSearch(term, ask, hitsOf, limitMs) {
  const times = [];
  let chunks;
  for (let call = -WARM_UP; call < calls; call++) {
    const began = performance.now();
    chunks = await ask();
    if (call >= 0) times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const answer = Buffer.concat(chunks);
  const hits = hitsOf(JSON.parse(answer)).length;
  const p99 = quantile(times, 0.99);
  if (p99 >= limitMs) process.exitCode = 1;
  console.log(
    `${term.padEnd(14)} ${String(hits).padStart(6)} hits ${String(answer.length >> 10).padStart(4)} KB  p50 ${quantile(times, 0.5).toFixed(1).padStart(5)} ms  p99 ${p99.toFixed(1).padStart(5)} ms (wanted ${limitMs})`,
  );
}

await withService({
  async run() {
    for (const term of TERMS) {
      const url = `${BASE}/api/v2/ingredient/search/?language=en&term=${encodeURIComponent(term)}`;
      const suggestionsOf = ({ suggestions }) => suggestions;
      await measureSearch(term, () => searchByRest(url), suggestionsOf, MAX_P99_MS);
    }
    for (const term of TERMS_WITH_TYPOS) {
      const nodesOf = ({ data }) => data.ingredients.nodes;
      await measureSearch(term, () => searchByGraphql(term), nodesOf, MAX_P99_WITH_TYPOS_MS);
    }
    agent.destroy();
  },
});
