// npm run bench: compares the service with a hand-written server on the same database, in the same
// run and in alternating rounds. Prints requests/s, p99, the ratio of the medians and the
// statements per request. BENCH_SECONDS and BENCH_ROUNDS change the length, BENCH_ONLY (a regular
// expression for names) selects scenarios.
import autocannon from 'autocannon';
import { TOKEN } from './data.mjs';
import { BASE, PORT, start, withService } from './service.mjs';

const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const connections = 16;
const ports = { service: PORT, baseline: PORT + 1 };

const DOCUMENT =
  'query ($first: Int) { exerciseTranslations(first: $first) { nodes { id name category { name } muscles { name } equipment { name } images { image isMain } } } }';
const post = (body) => ({
  path: '/graphql',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const variables = { first: 20 };
const clientDocument = post({ query: DOCUMENT, variables });
const scenarios = [
  { name: 'exercise list, 20', path: '/api/v2/exercise/?limit=20', wanted: 0.6 },
  { name: 'exerciseinfo list, 20', path: '/api/v2/exerciseinfo/?limit=20', wanted: 0.7 },
  { name: 'exercise detail', path: '/api/v2/exercise/ID/', wanted: 0.25 },
  {
    name: 'own weight entries',
    path: '/api/v2/weightentry/?limit=20',
    headers: { authorization: `Token ${TOKEN}` },
    wanted: 0.6,
  },
  { name: 'GraphQL, 20 nested', ...clientDocument, wanted: 0.33 },
  // The baseline does not support trusted documents and receives the text.
  {
    name: 'the same as trusted',
    ...post({ id: 'exercises', variables }),
    baseline: clientDocument,
    wanted: 0.33,
  },
].filter(({ name }) => new RegExp(process.env.BENCH_ONLY ?? '').test(name));

async function answer(port, { path, method = 'GET', headers, body }) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { accept: 'application/json', ...headers },
    body,
  });

  return {
    status: response.status,
    text: await response.text(),
    timing: response.headers.get('server-timing'),
  };
}

function measure(port, { path, method = 'GET', headers, body }) {
  return autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    method,
    headers: { accept: 'application/json', ...headers },
    body,
    connections,
    duration: seconds,
  });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function prepare(client) {
  const { rows } = await client.query(
    `SELECT id FROM exercise WHERE status = '2' ORDER BY id LIMIT 1 OFFSET 5000`,
  );

  for (const scenario of scenarios) {
    scenario.path = scenario.path.replace('ID', rows[0].id);
    scenario.statements = /desc="(\d+)/.exec((await answer(ports.service, scenario)).timing)?.[1];
  }
}

async function run(connection) {
  await start(
    './baseline.mjs',
    [JSON.stringify(connection), String(ports.baseline), BASE],
    {},
    'ready',
  );
  let belowTarget = 0;

  for (const scenario of scenarios) {
    const requests = { service: scenario, baseline: scenario.baseline ?? scenario };
    const [ours, theirs] = await Promise.all([
      answer(ports.service, requests.service),
      answer(ports.baseline, requests.baseline),
    ]);

    if (ours.status !== 200 || ours.text !== theirs.text) {
      throw new Error(
        `${scenario.name}: the answers differ\n${ours.text.slice(0, 600)}\n${theirs.text.slice(0, 600)}`,
      );
    }

    const results = { service: [], baseline: [] };

    await measure(ports.service, requests.service);

    for (let round = 0; round < rounds; round++) {
      for (const who of ['baseline', 'service']) {
        results[who].push(await measure(ports[who], requests[who]));
      }
    }

    const rate = (who) => median(results[who].map((result) => result.requests.average));
    const p99 = (who) => median(results[who].map((result) => result.latency.p99));
    const failed = Object.values(results)
      .flat()
      .some((result) => result.non2xx || result.errors);

    if (failed) throw new Error(`${scenario.name}: some requests failed`);
    const ratio = rate('service') / rate('baseline');

    if (ratio < scenario.wanted) belowTarget += 1;
    console.log(
      `${scenario.name.padEnd(22)} ${rate('service').toFixed(0).padStart(6)} req/s  p99 ${p99('service').toFixed(0).padStart(3)} ms   baseline ${rate('baseline').toFixed(0).padStart(6)} req/s  p99 ${p99('baseline').toFixed(0).padStart(3)} ms   ratio ${ratio.toFixed(2)} (wanted ${scenario.wanted})   ${scenario.statements} statements`,
    );
  }

  process.exitCode = belowTarget ? 1 : 0;
}

await withService({ prepare, run, operations: { exercises: DOCUMENT } });
