/**
 * Probes the event loop of a server in a thread: sends `/health/live` all the time over one
 * connection. On each message, posts the longest time without an answer since the previous message,
 * minus the scheduling delays of this thread and of the server's threads, which come from the load
 * of the machine.
 */
const fs = require('node:fs');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { parentPort, workerData } = require('node:worker_threads');

const PROBE_EVERY_MS = 20;

const { base, server } = workerData;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function delayIn(schedstat) {
  try {
    return Number(fs.readFileSync(schedstat, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

const threadsOf = (pid) => fs.readdirSync(`/proc/${pid}/task`);

/**
 * Returns a function for the delays from now on. The main thread may wait for one other thread at a
 * time, so only the largest of their delays counts.
 */
function measureDelays() {
  const tasks = `/proc/${server}/task`;
  const delaysOf = () =>
    new Map(threadsOf(server).map((thread) => [thread, delayIn(`${tasks}/${thread}/schedstat`)]));
  const own = () => delayIn('/proc/thread-self/schedstat');
  const [ownBefore, before] = [own(), delaysOf()];

  return () => {
    const after = delaysOf();
    const grown = (thread) => after.get(thread) - (before.get(thread) ?? after.get(thread));
    const others = [...after.keys()].filter((thread) => thread !== String(server));

    return own() - ownBefore + grown(String(server)) + Math.max(0, ...others.map(grown));
  };
}

/** Resolves when the server has answered, or refused the connection. */
const probe = () =>
  new Promise((resolve) => {
    const request = http.get(`${base}/health/live`, { agent }, (response) =>
      response.resume().once('close', resolve),
    );

    request.once('error', resolve);
  });

let longest = 0;

async function probeOnce() {
  const delays = measureDelays();
  const began = performance.now();

  await probe();

  const elapsed = performance.now() - began;

  longest = Math.max(longest, elapsed - delays());
}

async function run() {
  let isAsked = false;

  parentPort.on('message', () => (isAsked = true));
  await probe();
  parentPort.postMessage('started');

  for (;;) {
    const answers = isAsked;

    await probeOnce();
    if (answers) {
      parentPort.postMessage(longest);
      [isAsked, longest] = [false, 0];
    } else await sleep(PROBE_EVERY_MS);
  }
}

void run();
