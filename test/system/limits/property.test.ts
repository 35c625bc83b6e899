/**
 * No single request, of any interface, costs a worker much: at most 2 s of CPU time, 300 MB of
 * memory and 250 ms without a turn of the event loop. PROPERTY_REQUESTS sets the number of requests
 * that are drawn, PROPERTY_FIRST the number of the first one, PROPERTY_SECONDS the time after which
 * no more are drawn.
 */
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { SEED, seeded } from '../../setup/random';
import { MAX_CPU_MS, MAX_STOP_MS, ResourceMeter, type ResourceUse } from './costly/resource-use';
import { CostlyRequests, type DrawnRequest } from './costly/requests';
import { Scene } from './costly/server';
import type { Answer } from './costly/raw-client';
import { LONG_TIMEOUT_MS } from '../../setup/waits';

const REQUESTS = Number(process.env.PROPERTY_REQUESTS ?? 500);

jest.setTimeout(LONG_TIMEOUT_MS + REQUESTS * 2_000);
const FIRST = Number(process.env.PROPERTY_FIRST ?? 0);
const SECONDS = Number(process.env.PROPERTY_SECONDS ?? Infinity);

const MAX_MEMORY_MB = 300;

/**
 * Number of measurements of a request that exceeds the limit of CPU time. The smallest counts, because
 * processes beside the server can only prolong it (caches, processor frequency).
 */
const CPU_MEASUREMENTS = 10;

const MAX_PRINTED_CHARACTERS = 1_500;
const MAX_VIOLATIONS = 40;

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.start();
});
afterAll(() => scene.end());

/** Returns the limits that a request has exceeded. */
function findViolations(
  { cpuMs, memoryMb, stopMs, isIdle }: ResourceUse,
  { status, text }: Answer,
): string[] {
  return [
    ...(cpuMs > MAX_CPU_MS ? [`${Math.round(cpuMs)} ms of CPU`] : []),
    ...(memoryMb > MAX_MEMORY_MB ? [`${Math.round(memoryMb)} MB`] : []),
    ...(stopMs > MAX_STOP_MS ? [`stopped for ${Math.round(stopMs)} ms`] : []),
    ...(isIdle ? [] : ['never idle']),
    ...(status === 500 || text.includes('INTERNAL_SERVER_ERROR') ? ['internal error'] : []),
    ...(scene.isWorkerRunning ? [] : ['the worker has ended']),
  ];
}

const summarize = ({ cpuMs, memoryMb, stopMs }: ResourceUse, { status, bytes }: Answer): string =>
  `${Math.round(cpuMs)} ms of CPU, ${Math.round(memoryMb)} MB, ${Math.round(stopMs)} ms stopped, status ${status}, ${bytes} bytes`;

const describeViolation = (
  index: number,
  violations: readonly string[],
  { text }: DrawnRequest,
  use: ResourceUse,
  answer: Answer,
): string =>
  `request ${index} of seed ${SEED}: ${violations.join(', ')} (${summarize(use, answer)})\n${text.slice(0, MAX_PRINTED_CHARACTERS)}`;

test(seeded(`bounds the cost of ${REQUESTS} random requests`), async () => {
  const requests = new CostlyRequests(scene.base, buildGraphQLSchema(), scene.users);
  const meter = await ResourceMeter.start(scene.worker, scene.base, scene.isDatabaseBusy);
  const found: string[] = [];
  const end = performance.now() + SECONDS * 1_000;

  try {
    for (
      let index = FIRST;
      index < FIRST + REQUESTS && found.length < MAX_VIOLATIONS && performance.now() < end;
      index += 1
    ) {
      const request = await requests.draw(index);
      const { result, use } = await meter.measure(request.send);

      for (let count = 1; count < CPU_MEASUREMENTS && use.cpuMs > MAX_CPU_MS; count += 1) {
        if (!scene.isWorkerRunning) break;
        const repeated = await meter.measure(request.send);

        use.cpuMs = Math.min(use.cpuMs, repeated.use.cpuMs);
      }

      const violations = findViolations(use, result);

      if (violations.length > 0) {
        found.push(describeViolation(index, violations, request, use, result));
      }

      if (!scene.isWorkerRunning) break;
    }
  } finally {
    await meter.end();
  }

  expect(found).toEqual([]);
});
