// npm run bench:documents: compares many client documents, sent in turn, with a single one on the
// same service, in alternating rounds. Each document selects 120 fields. BENCH_SECONDS and
// BENCH_ROUNDS change the length.
import autocannon from 'autocannon';
import { documentOf } from './large-document.mjs';
import { BASE, withService } from './service.mjs';

const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const MIN_RATIO = 0.9;
const COUNTS = [25, 80, 200];
const ROWS = 5;
const LISTS = 3;

const headers = { 'content-type': 'application/json', accept: 'application/json' };
const requestsOf = (count) =>
  Array.from({ length: count }, (_, number) => ({
    method: 'POST',
    path: '/graphql',
    headers,
    body: JSON.stringify({ query: documentOf(number, LISTS, ROWS) }),
  }));

const measure = (count) =>
  autocannon({ url: BASE, requests: requestsOf(count), connections: 16, duration: seconds });

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function run() {
  const [{ body }] = requestsOf(1);
  const response = await fetch(`${BASE}/graphql`, { method: 'POST', headers, body });
  const { data, errors } = await response.json();

  if (errors || Object.values(data).some(({ nodes }) => nodes.length !== ROWS)) {
    throw new Error(`unexpected response: ${JSON.stringify(errors)}`);
  }

  const results = new Map([1, ...COUNTS].map((count) => [count, []]));

  await measure(1);

  for (let round = 0; round < rounds; round++) {
    for (const [count, measured] of results) measured.push(await measure(count));
  }

  if ([...results.values()].flat().some((result) => result.non2xx || result.errors)) {
    throw new Error('some requests failed');
  }

  const rate = (count) => median(results.get(count).map((result) => result.requests.average));
  const p99 = (count) => median(results.get(count).map((result) => result.latency.p99));

  for (const count of results.keys()) {
    const ratio = rate(count) / rate(1);

    if (ratio < MIN_RATIO) process.exitCode = 1;
    const comparison = count === 1 ? '' : `   ratio ${ratio.toFixed(2)} (wanted ${MIN_RATIO})`;

    console.log(
      `documents in turn ${String(count).padStart(4)} ${rate(count).toFixed(0).padStart(6)} req/s  p99 ${p99(count).toFixed(0).padStart(3)} ms${comparison}`,
    );
  }
}

await withService({ run });
