/**
 * Work that is aborted ends: after a limit or the departure of its client the worker is idle soon,
 * and keeps no memory of the answer.
 */
import { addDays } from '../../../seeders/dates';
import { todayIn } from '../../../src/engine/declare/clock';
import { randomFor, seeded, type Random } from '../../setup/random';
import { mainThreadTimeOf, residentMemoryOf, waitUntilIdle } from './costly/resource-use';
import { Scene, type CostlyUser } from './costly/server';
import { framesOf, sendHttp, sendWebSocket, type Answer } from './costly/raw-client';

const ROUNDS = 30;

/** Rounds after which caches and the heap have their final size. */
const WARM_UP_ROUNDS = 8;
const MAX_CPU_AFTER_ABORT_MS = 100;

/** The aborted answers of all rounds together have gigabytes. */
const MAX_MEMORY_GROWTH_MB = 200;
const MAX_LEAVE_MS = 400;
const PATIENCE_MS = 60_000;
const SUBSCRIPTIONS = 20;

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.start();
});
afterAll(() => scene.end());

/**
 * Relations that lead back to the type where they begin: `root` selects an object of it, and each
 * cycle multiplies the objects by the length of a list.
 */
const CYCLES: readonly {
  root: string;
  type: string;
  cycle: readonly string[];
  fields: readonly string[];
}[] = [
  {
    root: 'exerciseTranslation',
    type: 'ExerciseTranslation',
    cycle: ['variations'],
    fields: ['id', 'name', 'description', 'categoryId', 'muscleIds', 'nodeId'],
  },
  {
    root: 'exercise',
    type: 'Exercise',
    cycle: ['translations', 'exercise'],
    fields: ['id', 'nodeId', 'licenseId'],
  },
  {
    root: 'workout',
    type: 'Workout',
    cycle: ['days', 'workout'],
    fields: ['id', 'nodeId', 'updatedAt'],
  },
  {
    root: 'workout',
    type: 'Workout',
    cycle: ['scheduleSteps', 'workout'],
    fields: ['id', 'nodeId', 'createdAt', 'version'],
  },
  {
    root: 'nutritionPlan',
    type: 'NutritionPlan',
    cycle: ['meals', 'plan'],
    fields: ['id', 'nodeId', 'createdAt'],
  },
];
const DEPTH = 16;
const TODAY = todayIn('UTC');

/**
 * Returns an operation whose answer exceeds the limits: relations back and forth, or lists of many
 * days that wait for the same rows.
 */
const endlessQuery = (random: Random, user: CostlyUser): string =>
  random.chance(0.3) ? plannedTraining(random) : backAndForth(random, user);

function plannedTraining(random: Random): string {
  const setGroups = () =>
    `setGroups { ${random.some(['id', 'nodeId', 'sets', 'plannedSets { id }'], 4).join(' ')} }`;
  const days = Array.from(
    { length: random.int(2, 6) },
    (_, index) => `a${index}: trainingDays { id ${setGroups()} }`,
  );

  return `{ plannedTraining(from: "${addDays(TODAY, -360)}", until: "${TODAY}") { date ${days.join(' ')} } }`;
}

function backAndForth(random: Random, user: CostlyUser): string {
  const { root, type, cycle, fields } = random.pick(CYCLES);
  const id = user.ids.get(type)![0]!;
  const selected = random.some(fields, fields.length).join(' ');
  const relations = Array.from({ length: DEPTH }, (_, index) => cycle[index % cycle.length]!);

  return `{ ${root}(id: ${id}) { ${relations.map((relation) => `${selected} ${relation} { `).join('')} id ${'} '.repeat(DEPTH)} } }`;
}

/**
 * Selects, for each change of a day or log, all steps of the schedules of its workout. An event
 * takes about half a second.
 */
const longSubscription = (random: Random, { cursor }: CostlyUser): string => `
  subscription { changed(since: "${cursor}") { changes { node {
    ... on TrainingDay { workout { ...steps } }
    ... on WorkoutLog { workout { ...steps } }
  } } } }
  fragment steps on Workout { scheduleSteps { id ${random.some(['nodeId', 'version'], 2).join(' ')} workout { id nodeId } } }`;

/** Subscribes several times, so that events wait for each other when the client leaves. */
function subscribe(
  query: string,
  headers: Record<string, string>,
  leaveAfterMs: number,
): Promise<Answer> {
  const messages = Array.from({ length: SUBSCRIPTIONS }, (_, id) =>
    JSON.stringify({ id: String(id), type: 'subscribe', payload: { query } }),
  );
  const frames = messages.flatMap((message) => framesOf(message, message.length));

  return sendWebSocket(
    scene.base,
    { headers, frames, pieceBytes: messages[0]!.length },
    leaveAfterMs,
  );
}

/**
 * Sends an operation and waits for the answer, or leaves. Returns the CPU time that the main thread
 * of the worker used afterwards: other threads only collect the garbage, which holds up nobody.
 */
async function cpuAfterAbort(
  query: string,
  { token }: CostlyUser,
  leaveAfterMs: number | undefined,
): Promise<{ cpuMs: number; isIdle: boolean; status: number }> {
  const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ query }));

  await waitUntilIdle(scene.worker, scene.isDatabaseBusy);
  const { status } = query.includes('subscription')
    ? await subscribe(query, headers, leaveAfterMs!)
    : await sendHttp(
        scene.base,
        { method: 'POST', path: '/graphql', headers, body },
        leaveAfterMs ?? PATIENCE_MS,
      );
  const before = mainThreadTimeOf(scene.worker);
  const isIdle = await waitUntilIdle(scene.worker, scene.isDatabaseBusy);

  return { cpuMs: mainThreadTimeOf(scene.worker) - before, isIdle, status };
}

test.each([
  ['an operation that reaches a limit', endlessQuery, () => undefined],
  [
    'an operation that has lost its client',
    endlessQuery,
    (random: Random) => random.int(1, MAX_LEAVE_MS),
  ],
  [
    'a subscription that has lost its client',
    longSubscription,
    (random: Random) => random.int(1, MAX_LEAVE_MS),
  ],
])(seeded('stops the work of %s'), async (title, drawText, drawLeaveMs) => {
  const random = randomFor(`idle: ${title}`);
  const found: string[] = [];
  let memoryBefore = 0;

  for (let round = 0; round < ROUNDS; round += 1) {
    const user = random.pick(scene.users);
    const query = drawText(random, user);
    const leaveAfterMs = drawLeaveMs(random);
    const { cpuMs, isIdle, status } = await cpuAfterAbort(query, user, leaveAfterMs);

    if (leaveAfterMs === undefined) expect(status).toBe(400);

    if (cpuMs > MAX_CPU_AFTER_ABORT_MS || !isIdle) {
      found.push(`round ${round}: ${Math.round(cpuMs)} ms of CPU, ${query}`);
    }

    if (round === WARM_UP_ROUNDS) memoryBefore = residentMemoryOf(scene.worker);
  }

  expect(found).toEqual([]);
  expect(residentMemoryOf(scene.worker) - memoryBefore).toBeLessThan(MAX_MEMORY_GROWTH_MB);
});
