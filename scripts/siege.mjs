// npm run siege: applies mixed load of SIEGE_TIMES (2) times the capacity of the service for
// SIEGE_SECONDS (600). Prints the results, writes them as JSON to the file SIEGE_REPORT, and exits
// with status 1 if a requirement is violated: every request is answered, 503 with Retry-After is
// the only 5xx, anonymous clients are rejected first, throughput stays near the capacity, liveness
// checks are answered in time, memory stays flat, and response times are normal again five seconds
// afterwards.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isGood, Load } from './siege/load.mjs';
import { seed } from './siege/random.mjs';
import { memoryOf, startService } from './siege/service.mjs';
import { Watch } from './siege/watch.mjs';

const seconds = Number(process.env.SIEGE_SECONDS ?? 600);
const times = Number(process.env.SIEGE_TIMES ?? 2);
const WARM_SECONDS = 3;
const MEASURED_SECONDS = 4;
const CALM_SECONDS = 3;
const RECOVERY_SECONDS = 5;

/**
 * Limits. A short siege shares its machine with other tests, so it only requires that the service
 * stays alive.
 */
const isShort = seconds < 60;
const LIVE_MS = isShort ? 1_000 : 100;

/** Permitted growth of resident memory from the first to the last third of the siege. */
const MEMORY_SHARE = isShort ? 0.5 : 0.2;

/** Minimum throughput as a share of the capacity. */
const MIN_GOODPUT_SHARE = isShort ? 0.3 : 0.7;

/** Response times are normal up to NORMAL_MS, or up to NORMAL_TIMES the time before the siege. */
const NORMAL_MS = isShort ? 500 : 150;
const NORMAL_TIMES = 3;

const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? 0;
const p95 = (replies) => Math.round(quantile(replies.map(({ ms }) => ms), 0.95)); // prettier-ignore
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

/** Summarizes the replies by kind of request: number, statuses and response times. */
function table(replies) {
  const kinds = new Map();

  for (const reply of replies) {
    if (kinds.has(reply.kind)) kinds.get(reply.kind).push(reply);
    else kinds.set(reply.kind, [reply]);
  }

  return Object.fromEntries(
    [...kinds].map(([kind, all]) => {
      const statuses = {};

      for (const { status } of all) statuses[status] = (statuses[status] ?? 0) + 1;

      // prettier-ignore
      return [kind, { sent: all.length, statuses, p50: Math.round(quantile(all.map(({ ms }) => ms), 0.5)), p95: p95(all) }];
    }),
  );
}

/** Sends one request after the other, like a single client. */
async function sendSequentially(load, forSeconds) {
  const replies = [];
  const until = performance.now() + forSeconds * 1000;

  while (performance.now() < until) replies.push(await load.one('calm'));
  return replies;
}

async function runSiege(service) {
  const load = new Load(service);

  await load.closed(WARM_SECONDS);
  const measured = await load.closed(MEASURED_SECONDS);
  const capacity = measured.filter(isGood).length / MEASURED_SECONDS;
  const before = await sendSequentially(load, CALM_SECONDS);

  const watch = new Watch(service.base);
  const memory = [];
  const sampling = setInterval(
    () => memory.push(memoryOf(service.pid)),
    Math.min(1000, (seconds * 1000) / 60),
  );
  const replies = await load.open(capacity, times, seconds);

  clearInterval(sampling);
  const live = await watch.stop();

  await sleep(Math.max(0, RECOVERY_SECONDS * 1000 - replies.drainedMs));
  const after = await sendSequentially(load, CALM_SECONDS);

  const third = Math.floor(memory.length / 3);

  return {
    seed,
    seconds,
    capacity: Math.round(capacity),
    sent: Math.round(replies.length / seconds),
    good: Math.round(replies.filter(isGood).length / seconds),
    kinds: table(replies),
    calm: {
      before: p95(before),
      after: p95(after),
      refused: after.filter((reply) => !isGood(reply)).length,
    },
    live: {
      p95: Math.round(quantile(live, 0.95)),
      most: Math.round(Math.max(...live)),
      asked: live.length,
    },
    memory: {
      first: Math.round(mean(memory.slice(0, third))),
      last: Math.round(mean(memory.slice(-third))),
    },
    unanswered: replies.filter(({ status }) => status === 0).length,
    failures: replies
      .filter(({ status }) => status >= 500 && status !== 503)
      .map(({ kind, status }) => `${kind}: ${status}`),
    silent: replies.filter(
      ({ status, retryAfter }) => [429, 503].includes(status) && !(retryAfter > 0),
    ).length,
  };
}

/** Returns the violated requirements. */
function violatedRequirements({
  kinds,
  calm,
  live,
  memory,
  unanswered,
  failures,
  silent,
  good,
  capacity,
}) {
  const shedShare = (names) => {
    const of = names.map((name) => kinds[name]).filter(Boolean);
    const sum = (count) => of.reduce((total, kind) => total + count(kind), 0);

    return sum(({ statuses }) => statuses[503] ?? 0) / sum(({ sent }) => sent);
  };

  const [anonymousShare, userShare] = [
    shedShare(['strangers, REST', 'strangers, GraphQL']),
    shedShare(['users, REST', 'users, GraphQL']),
  ];

  return [
    [unanswered === 0, `${unanswered} requests had no answer`],
    [failures.length === 0, `${failures.length} answers were failures, such as ${failures[0]}`],
    [silent === 0, `${silent} refusals did not say when to come back`],
    [live.p95 < LIVE_MS, `/health/live took ${live.p95} ms at p95`],
    [
      memory.last <= memory.first * (1 + MEMORY_SHARE),
      `memory rose from ${memory.first} to ${memory.last} MB`,
    ],
    [
      calm.after <= Math.max(NORMAL_MS, NORMAL_TIMES * calm.before),
      `p95 was ${calm.before} ms before and ${calm.after} ms afterwards`,
    ],
    [calm.refused === 0, `${calm.refused} requests were refused when all was over`],
    [
      good >= capacity * MIN_GOODPUT_SHARE,
      `of ${capacity} requests a second that it can do it did ${good}`,
    ],
    [
      userShare <= anonymousShare + 0.05,
      `users were refused more often (${userShare.toFixed(2)}) than strangers (${anonymousShare.toFixed(2)})`,
    ],
  ].flatMap(([isKept, broken]) => (isKept ? [] : [broken]));
}

const service = await startService();

try {
  const report = await runSiege(service);
  const broken = violatedRequirements(report);

  console.log(JSON.stringify(report, null, 2));
  for (const promise of broken) console.log(`siege: ${promise}`);
  if (!broken.length) console.log('siege: withstood');

  if (process.env.SIEGE_REPORT) {
    writeFileSync(process.env.SIEGE_REPORT, JSON.stringify({ ...report, broken }));
  }

  process.exitCode = broken.length ? 1 : 0;
} finally {
  await service.stop();
}
