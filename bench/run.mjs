/**
 * npm run bench: compares the service with a hand-written server and with PostGraphile, on the same
 * database, in the same run and in alternating rounds.
 *   --rows           lists the rows
 *   --only REGEX     measures the rows whose name matches
 *   --seconds N      length of a round
 *   --rounds N       rounds per server
 *   --out FOLDER     folder of results.json and ratios.svg
 *   --quick          fewer rows on less data, in short rounds
 *   --quick --save   writes the ratios to the hand-written server to baseline.json
 *   --quick --check  fails if a ratio is much lower than in baseline.json
 * Exits with 1 if answers differ, requests fail, or the check fails.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  answerOf,
  compareAnswers,
  countStatements,
  makeConditional,
  requestsOf,
} from './answers.mjs';
import { hasBaseline, hasFallen, readBaseline, saveBaseline } from './baseline.mjs';
import { READER_TOKEN } from './data.mjs';
import { median, peakMemoryMb, runClosedLoop, runOpenLoop } from './measure.mjs';
import { tableHead, tableLines, writeResults } from './report.mjs';
import { OPERATIONS, rowsOf } from './rows.mjs';
import {
  installPostGraphile,
  isPostGraphileInstalled,
  NAMES,
  startCold,
  startServers,
} from './servers.mjs';
import { PORT, withService } from './service.mjs';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seconds: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    out: { type: 'string', default: local('results/') },
    quick: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
});
const { quick: isQuick } = options;
const seconds = Number(options.seconds ?? (isQuick ? 0.4 : 3));
const rounds = Number(options.rounds);
const sizes = isQuick
  ? { exercises: 2_000, ingredients: 20_000, logs: 20_000 }
  : { exercises: 10_000, ingredients: 1_000_000, logs: 2_000_000 };

/** Time in which V8 compiles the code of a request. */
const WARM_UP_SECONDS = 1;

/** How much longer the rounds are of a row that is measured again. */
const REPEATED = 4;

/** The fixed rate, as a share of the lowest one that a server reaches in a closed loop. */
const OPEN_LOOP_SHARE = 0.5;

function local(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

const isWanted = ({ name, isInQuick }) =>
  new RegExp(options.only).test(name) && (!isQuick || isInQuick);

/** Reads the ids that the requests contain. */
async function readIds(client) {
  const { rows } = await client.query(
    `SELECT r.id AS reader,
    (SELECT id FROM exercise WHERE status = '2' ORDER BY id LIMIT 1 OFFSET $2) AS exercise,
    (SELECT min(id) FROM workout WHERE user_id = r.id) AS workout,
    (SELECT min(id) FROM nutrition_plan WHERE user_id = r.id) AS plan,
    (SELECT array_agg(id ORDER BY id) FROM setting WHERE user_id <> r.id) AS settings,
    (SELECT count(*)::int / 2 FROM workout_log WHERE user_id = r.id) AS middle
    FROM user_account r JOIN token t ON t.user_id = r.id AND t.digest = sha256($1)`,
    [READER_TOKEN, sizes.exercises / 2],
  );
  const [{ middle, ...ids }] = rows;
  const { text } = await answerOf(
    { port: PORT },
    {
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Token ${READER_TOKEN}` },
      body: JSON.stringify({
        query: `{ workoutLogs(first: 1, offset: ${middle}) { pageInfo { endCursor } nodes { id date reps } } }`,
      }),
    },
  );
  const { pageInfo, nodes } = JSON.parse(text).data.workoutLogs;

  return {
    ...ids,
    ingredients: sizes.ingredients,
    log: { ...nodes[0], cursor: pageInfo.endCursor },
  };
}

let rows;

async function prepare(client, startService) {
  rows = rowsOf(await readIds(client)).filter(isWanted);
  const cold = await startCold(startService, { SERVER_TIMING: 'on' });

  for (const row of rows) {
    const server = row.isCold ? cold : { port: PORT };

    if (row.isConditional) await makeConditional(row, server);
    row.statements = await countStatements(row, server);
  }
}

/** The medians of the rounds. */
const mediansOf = (measured) =>
  Object.fromEntries(
    Object.keys(measured[0]).map((key) => [key, median(measured.map((round) => round[key]))]),
  );

/** Measures the servers of a row in alternating rounds. Returns the results and the ratios. */
async function measureRow(row, servers, databasePid, duration) {
  const requests = requestsOf(row, servers);
  const measured = Object.fromEntries(requests.map(([who]) => [who, []]));

  for (let round = 0; round < rounds; round += 1) {
    for (const [who, request] of round % 2 ? requests.toReversed() : requests) {
      measured[who].push(
        await runClosedLoop(servers[who], databasePid, request, row.connections, duration),
      );
    }
  }

  const results = {};

  for (const [who] of requests) {
    results[who] = { ...mediansOf(measured[who]), bytes: row.bytes[who] };
  }

  results.fitgraph.statements = row.statements;

  if (row.isOpenLoop && !isQuick) {
    const rate = Math.min(...Object.values(results).map((result) => result.rate)) * OPEN_LOOP_SHARE;

    for (const [who, request] of requests) {
      results[who].atRate = await runOpenLoop(servers[who], request, rate, duration);
    }
  }

  const { fitgraph, ...others } = results;
  const ratios = Object.fromEntries(
    Object.entries(others).map(([who, { rate }]) => [who, fitgraph.rate / rate]),
  );

  return { name: row.name, wanted: row.wanted, results, ratios };
}

const print = (result) => tableLines(result).forEach((line) => console.log(line));

/** Compares the answers to a row; a first round, which is not measured, compiles code. */
async function warmUp(row, servers, databasePid) {
  row.bytes = await compareAnswers(row, servers);

  for (const [who, request] of requestsOf(row, servers)) {
    await runClosedLoop(servers[who], databasePid, request, row.connections, WARM_UP_SECONDS);
  }
}

/** Measures a row and prints it; if its ratio has fallen, measures it once more before it counts. */
async function runRow(row, servers, databasePid, baseline) {
  const result = await measureRow(row, servers, databasePid, seconds);

  print(result);
  if (!hasFallen(result, baseline)) return result;
  console.log(`${row.name}: the ratio was ${baseline[row.name]} in the baseline; once more:`);
  const repeated = await measureRow(row, servers, databasePid, seconds * REPEATED);

  print(repeated);
  return repeated;
}

async function run(connection, startService, service) {
  const { servers, databasePid } = await startServers(connection, startService, service);
  const baseline = options.check ? readBaseline() : {};
  const failures = [];

  /** Does the same for each row. Returns the results of those that do not fail. */
  const forEachRow = async (rows, work) => {
    const results = [];

    for (const row of rows) {
      const rowServers = row.isCold ? { ...servers, fitgraph: servers.cold } : servers;

      try {
        results.push(await work(row, rowServers));
      } catch (error) {
        failures.push(`${row.name}: ${error.message}`);
      }
    }

    return results;
  };

  const ready = await forEachRow(rows, async (row, rowServers) => {
    await warmUp(row, rowServers, databasePid);
    return row;
  });

  console.log(tableHead());
  const results = await forEachRow(ready, (row, rowServers) =>
    runRow(row, rowServers, databasePid, baseline),
  );

  const memoryMb = Object.fromEntries(
    Object.entries(servers).map(([who, { pid }]) => [NAMES[who], Math.round(peakMemoryMb(pid))]),
  );

  console.log('peak memory in MB:', memoryMb);
  writeResults(options.out, options, results, memoryMb);
  if (options.save) saveBaseline(results);

  for (const { name, ratios } of results.filter((result) => hasFallen(result, baseline))) {
    failures.push(
      `${name}: the ratio fell from ${baseline[name]} to ${ratios.handWritten.toFixed(2)}`,
    );
  }

  for (const failure of failures) console.log(`FAILED ${failure}`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}

function usageError() {
  if ((options.check || options.save) && !isQuick) return '--check and --save need --quick';

  if (options.save && options.only) return '--save needs all rows';

  if (options.check && !hasBaseline()) {
    return 'bench/baseline.json is missing: npm run bench -- --quick --save';
  }
}

const error = usageError();

if (error) {
  console.error(error);
  process.exitCode = 2;
} else if (options.rows) {
  for (const { name } of rowsOf({}).filter(isWanted)) console.log(name);
} else {
  if (!isQuick && !isPostGraphileInstalled()) installPostGraphile();
  await withService({ prepare, run, operations: OPERATIONS, sizes });
}
