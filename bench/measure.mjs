/**
 * Load for one server, and what it costs: requests in a closed loop (each connection sends its next
 * request after a response) and in an open loop (at a fixed rate, whether or not responses arrive),
 * CPU time and memory of processes (Linux only).
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';

const MAX_OPEN_CONNECTIONS = 256;

/** Interval at which autocannon checks whether the time is over. */
const SAMPLE_MS = 50;

/** Time in which a server finishes the requests that are still open at the end of a round. */
const PAUSE_MS = 30;

/** Unit of CPU times in /proc: 100 per second on all architectures of Linux. */
const TICK_MS = 10;
const PROC = '/proc';

export const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const median = (values) => quantile(values, 0.5);

/** Parent and CPU milliseconds, including children that have exited; undefined if it has exited. */
function statOf(pid) {
  try {
    const fields = readFileSync(`${PROC}/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);

    return { pid: Number(pid), parent: Number(fields[1]), cpuMs: ticks * TICK_MS };
  } catch {
    return undefined;
  }
}

/** The process and its descendants; empty without /proc. */
function processTree(root) {
  if (!existsSync(`${PROC}/self/stat`)) return [];
  const processes = readdirSync(PROC).filter(Number).map(statOf).filter(Boolean);
  const withChildren = (pid) => [
    ...processes.filter((process) => process.pid === pid),
    ...processes.filter(({ parent }) => parent === pid).flatMap((child) => withChildren(child.pid)),
  ];

  return withChildren(root);
}

const cpuMsOf = (root) => processTree(root).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

export const parentOf = (pid) => statOf(pid)?.parent;

/** Sum of the peak resident memory of the process and its descendants in MB. */
export const peakMemoryMb = (root) =>
  processTree(root).reduce((sum, { pid }) => {
    const status = readFileSync(`${PROC}/${pid}/status`, 'utf8');

    return sum + Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
  }, 0);

const isFunction = (value) => typeof value === 'function';

/** The request, or the next one of a function that returns requests. */
export const nextOf = (request) => (isFunction(request) ? request() : request);

const isExpected = (status) => (status >= 200 && status < 300) || status === 304;

/**
 * Sends requests for a number of seconds with so many connections. If there are fewer responses
 * than connections, does so again for twice the time, until requests time out. `request` is a
 * request, or a function that returns each one. Returns requests per second, p50 and p99 in ms, and
 * CPU ms per request of the server and of PostgreSQL.
 */
export async function runClosedLoop({ port, pid }, databasePid, request, connections, seconds) {
  const cpuBefore = [cpuMsOf(pid), cpuMsOf(databasePid)];
  const times = [];
  const instance = autocannon({
    url: `http://127.0.0.1:${port}`,
    requests: [
      isFunction(request)
        ? { setupRequest: (defaults) => ({ ...defaults, ...request() }) }
        : request,
    ],
    connections,
    duration: seconds,
    sampleInt: SAMPLE_MS,
  });
  let failures = 0;

  instance.on('response', (client, status, bytes, ms) => {
    times.push(ms);
    if (!isExpected(status)) failures += 1;
  });
  const { duration, errors, timeouts } = await instance;

  await sleep(PAUSE_MS);
  const [cpuMs, databaseCpuMs] = [cpuMsOf(pid), cpuMsOf(databasePid)].map(
    (after, index) => (after - cpuBefore[index]) / times.length,
  );

  if (failures + errors + timeouts > 0) {
    throw new Error(`${failures} failed responses, ${errors} errors, ${timeouts} timeouts`);
  }

  if (times.length < connections) {
    return runClosedLoop({ port, pid }, databasePid, request, connections, seconds * 2);
  }

  return {
    rate: times.length / duration,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpuMs,
    databaseCpuMs,
  };
}

const send = (agent, port, { path, method, headers, body }) =>
  new Promise((resolve, reject) => {
    httpRequest({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
      response.on('end', () => resolve(response.statusCode)).resume();
    })
      .on('error', reject)
      .end(body);
  });

/**
 * Sends requests at a fixed rate for a number of seconds. Times are counted from when a request was
 * due, so they include the time in which it could not be sent (no coordinated omission). Returns
 * p50, p99 and p99.9 in ms, and the number of rejected requests.
 */
export async function runOpenLoop({ port }, request, rate, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN_CONNECTIONS });
  const pending = [];
  const times = [];
  const began = performance.now();
  const count = Math.floor(rate * seconds);
  let rejected = 0;

  const sendDue = async (dueAt) => {
    if (!isExpected(await send(agent, port, nextOf(request)))) rejected += 1;
    times.push(performance.now() - dueAt);
  };

  while (pending.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - began) / 1000) * rate));

    while (pending.length < due) pending.push(sendDue(began + (pending.length * 1000) / rate));
    await sleep(1);
  }

  await Promise.all(pending);
  agent.destroy();
  return {
    rate,
    rejected,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    p999: quantile(times, 0.999),
  };
}
