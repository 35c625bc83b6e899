/**
 * Fair turns for synchronous work of many milliseconds, such as decoding a body, validating a
 * document or completing a long list. Each event-loop turn does such work for only a few
 * milliseconds. Networks take turns, and within a network its users.
 */
export interface TurnClient {
  readonly network: string;

  /** Id of the signed-in user; absent for an anonymous client. */
  readonly userId: number | undefined;
}

/** Time for work in one event-loop turn. Work that has begun is completed. */
const MAX_LOOP_TURN_MS = 5;

/** Maximum number of requests per network that wait for their start. */
const MAX_WAITING_REQUESTS = 200;

/** Maximum number of consecutive event-loop turns that only accept connections. */
const MAX_ACCEPTING_TURNS = 64;

/** Starts queued work, which has waited for `waitedMs` milliseconds. */
type StartWork = (this: void, waitedMs: number) => void;

interface QueuedTurn {
  start: StartWork;
  queuedAt: number;
}

const queuesByNetwork = new Map<string, Map<number | undefined, QueuedTurn[]>>();
let loopTurnStartedAt = 0;
let isLoopTurnScheduled = false;

/** Whether work, or a promise job that it has created, is still running. */
let isWorking = false;
let hasNewConnection = false;
let acceptingLoopTurns = 0;

/**
 * Waits for the client's turn, which begins at once if the event-loop turn has time left and no
 * other work is running or queued. The caller must do its work before it awaits anything else.
 */
export function awaitTurn(client: TurnClient): Promise<void> {
  return new Promise((resolve) => startOrQueue(client, () => resolve()));
}

/**
 * Starts a request, now or in a later turn. If too many requests of its network wait, it starts at
 * once with a waiting time of Infinity, so that it can be rejected.
 */
export function startRequestInTurn(network: string, start: StartWork): void {
  const waitingCount = queuesByNetwork.get(network)?.get(undefined)?.length ?? 0;

  if (waitingCount >= MAX_WAITING_REQUESTS) start(Infinity);
  else startOrQueue({ network, userId: undefined }, start);
}

/** Queues work until the client's next turn, after the current work has ended. */
export function queueWork({ network, userId }: TurnClient, start: StartWork): void {
  const queuesByUser = queuesByNetwork.get(network) ?? new Map<number | undefined, QueuedTurn[]>();
  const queue = queuesByUser.get(userId) ?? [];

  queue.push({ start, queuedAt: performance.now() });
  queuesByNetwork.set(network, queuesByUser.set(userId, queue));
  scheduleLoopTurn();
}

/**
 * Reserves the next event-loop turns for accepting connections. Node accepts one per event-loop
 * turn, so during long ones clients would wait in the kernel's queue for seconds, which cannot be
 * measured.
 */
export function yieldToNewConnections(): void {
  hasNewConnection = true;
  scheduleLoopTurn();
}

/**
 * Longest waiting time in milliseconds among the networks with a single piece of queued work.
 * Networks with more are left out, because they also wait for their own work.
 */
export function longestWaitMs(): number {
  const singleQueues = [...queuesByNetwork.values()].flatMap((queuesByUser) =>
    queuesByUser.size === 1 ? [...queuesByUser.values()] : [],
  );
  const queueTimes = singleQueues.flatMap((queue) =>
    queue.length === 1 ? queue[0]!.queuedAt : [],
  );

  return queueTimes.length ? performance.now() - Math.min(...queueTimes) : 0;
}

function startOrQueue(client: TurnClient, start: StartWork): void {
  scheduleLoopTurn();
  if (queuesByNetwork.size || isWorking || !hasTimeLeft()) queueWork(client, start);
  else runWork(start, 0);
}

const hasTimeLeft = (): boolean => performance.now() - loopTurnStartedAt < MAX_LOOP_TURN_MS;

function scheduleLoopTurn(): void {
  if (isLoopTurnScheduled) return;
  isLoopTurnScheduled = true;
  loopTurnStartedAt = performance.now();
  setImmediate(beginLoopTurn);
}

function beginLoopTurn(): void {
  isLoopTurnScheduled = false;
  acceptingLoopTurns = hasNewConnection ? acceptingLoopTurns + 1 : 0;
  hasNewConnection = false;
  if (queuesByNetwork.size) scheduleLoopTurn();
  if (acceptingLoopTurns % MAX_ACCEPTING_TURNS === 0) startNextWork();
}

function runWork(start: StartWork, waitedMs: number): void {
  isWorking = true;
  // A tick that is requested in a promise job runs after all promise jobs, including the jobs that
  // the work creates.
  queueMicrotask(() => process.nextTick(endWork));
  start(waitedMs);
}

function endWork(): void {
  isWorking = false;
  // Not in this tick, because other pending ticks (some send batches of database loads) would run
  // before the promise jobs of the next work.
  if (hasTimeLeft()) queueMicrotask(startNextWork);
}

/** Starts the next queued work in round-robin order of networks, then of users. */
function startNextWork(): void {
  const [network, queuesByUser] = firstEntry(queuesByNetwork) ?? [];

  if (!queuesByUser || isWorking) return;
  const [userId, queue] = firstEntry(queuesByUser)!;
  const { start, queuedAt } = queue.shift()!;

  queuesByUser.delete(userId);
  if (queue.length) queuesByUser.set(userId, queue);
  queuesByNetwork.delete(network!);
  if (queuesByUser.size) queuesByNetwork.set(network!, queuesByUser);
  runWork(start, performance.now() - queuedAt);
}

const firstEntry = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;
