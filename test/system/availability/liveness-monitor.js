/**
 * Probes `/health/live` of a server continuously in its own thread. Reports the longest response
 * time, without the scheduling delays of this thread and of the server, which come from the load of
 * the machine.
 */
const { lookup } = require('node:dns/promises');
const fs = require('node:fs');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { parentPort, workerData } = require('node:worker_threads');

const PROBE_EVERY_MS = 50;

const { base, server, limitMs } = workerData;

/**
 * Returns the scheduling delay of a thread since its start, in milliseconds; 0 if the kernel does
 * not count it or the thread has ended.
 */
function delayOf(thread) {
  try {
    return Number(fs.readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

const delay = () => delayOf('thread-self') + delayOf(server);

/** Returns the milliseconds until the response, on a new connection. */
function probe(addresses) {
  const [began, delayed] = [performance.now(), delay()];

  return new Promise((resolve) => {
    const answered = () => resolve(performance.now() - began - Math.max(0, delay() - delayed));
    // Avoids waiting for a DNS thread of this process in each probe.
    const resolved = (_name, _options, done) => done(null, addresses);
    const request = http.get(
      `${base}/health/live`,
      { agent: false, lookup: resolved },
      (response) => {
        response.resume();
        response.once('error', () => resolve(limitMs));
        response.once('end', () => (response.statusCode === 200 ? answered() : resolve(limitMs)));
      },
    );

    request.setTimeout(limitMs, () => request.destroy());
    request.once('error', () => resolve(limitMs));
  });
}

/** Posts a message when probing starts, and the longest response time at the end. */
async function watch() {
  const addresses = await lookup(new URL(base).hostname, { all: true });

  // Warm-up: the first probe of a thread takes longer.
  await probe(addresses);
  let isStopped = false;

  parentPort.once('message', () => (isStopped = true));
  parentPort.postMessage('begun');
  let longest = 0;

  while (!isStopped) {
    longest = Math.max(longest, await probe(addresses));
    await sleep(PROBE_EVERY_MS);
  }

  parentPort.postMessage(longest);
}

void watch();
