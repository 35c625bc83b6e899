// Sends liveness checks continuously, from a thread of its own, which the load generator cannot
// delay.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const EVERY_MS = 50;

/** Time after which a check counts as unanswered. */
const REQUEST_TIMEOUT_MS = 10_000;

export class Watch {
  constructor(base) {
    this.worker = new Worker(new URL(import.meta.url), { workerData: base });
  }

  /** Stops the checks and returns their response times in milliseconds. */
  stop() {
    return new Promise((resolve, reject) => {
      this.worker.once('message', resolve).once('error', reject);
      this.worker.postMessage('stop');
    });
  }
}

function probe(base, agent) {
  const began = performance.now();

  return new Promise((resolve) => {
    const request = http.get(`${base}/health/live`, { agent }, (response) => {
      response.resume();
      response.once('end', () =>
        resolve(response.statusCode === 200 ? performance.now() - began : REQUEST_TIMEOUT_MS),
      );
    });

    request.setTimeout(REQUEST_TIMEOUT_MS, () => request.destroy());
    request.once('error', () => resolve(REQUEST_TIMEOUT_MS));
  });
}

if (!isMainThread) {
  const durations = [];
  let isStopped = false;

  parentPort.once('message', () => (isStopped = true));
  const agent = new http.Agent({ keepAlive: true });

  while (!isStopped) {
    durations.push(await probe(workerData, agent));
    await sleep(EVERY_MS);
  }

  agent.destroy();
  parentPort.postMessage(durations);
}
