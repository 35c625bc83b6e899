/** Asks all the while whether a server lives: in a thread of its own, which is not late because the attackers are. */
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { parentPort, workerData } = require('node:worker_threads');

const PROBE_EVERY_MS = 50;

const { base, givenUpMs } = workerData;

/** How many milliseconds an answer takes, by a connection of its own. */
function probe() {
  const began = performance.now();
  return new Promise((resolve) => {
    const request = http.get(`${base}/health/live`, { agent: false }, (response) => {
      response.resume();
      response.once('error', () => resolve(givenUpMs));
      response.once('end', () => resolve(response.statusCode === 200 ? performance.now() - began : givenUpMs));
    });
    request.setTimeout(givenUpMs, () => request.destroy());
    request.once('error', () => resolve(givenUpMs));
  });
}

/** Says that it has begun, and at the end the longest that an answer took. */
async function watch() {
  // The first one of a thread takes longer, which is not the server's.
  await probe();
  let over = false;
  parentPort.once('message', () => (over = true));
  parentPort.postMessage('begun');
  let longest = 0;
  while (!over) {
    longest = Math.max(longest, await probe());
    await sleep(PROBE_EVERY_MS);
  }
  parentPort.postMessage(longest);
}

void watch();
