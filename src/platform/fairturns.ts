/**
 * Fair turns for synchronous work that may take many milliseconds, such as starting a request, decoding a body, validating a document or completing a long
 * list: work of a few milliseconds per event-loop turn, so that other requests are served in between. Clients take turns by network, and users of one
 * network by user.
 */
export interface TurnClient {
  readonly network: string;
  /** Id of the signed-in user; undefined for an anonymous client. */
  readonly userId: number | undefined;
}

/** Time for work in one event-loop turn. Work that has begun is completed. */
const MAX_TURN_MS = 5;
/** Maximum number of requests of one network that wait for their start. */
const MAX_WAITING_REQUESTS = 200;
/** Maximum number of consecutive event-loop turns that only accept connections. */
const MAX_ACCEPTING_TURNS = 64;

/** Begins work that has waited for a turn for a time in milliseconds. */
type StartWork = (this: void, waitedMs: number) => void;

interface WaitingWork {
  start: StartWork;
  queuedAt: number;
}

const waitingByNetwork = new Map<string, Map<number | undefined, WaitingWork[]>>();
let turnStartedAt = 0;
let isTurnScheduled = false;
/** Whether work has been started whose promise jobs have not ended. */
let isWorking = false;
let hasNewConnection = false;
let acceptingTurns = 0;

/** Waits for a turn; not at all while this event-loop turn has time and nobody waits. The caller must do its work without awaiting anything else. */
export function awaitTurn(client: TurnClient): Promise<void> {
  return new Promise((resolve) => startNowOrLater(client, () => resolve()));
}

/** Starts a request, now or in a later turn. The waiting time is Infinity if too many requests of its network wait, so that it can be rejected. */
export function startRequestInTurn(network: string, start: StartWork): void {
  const waitingCount = waitingByNetwork.get(network)?.get(undefined)?.length ?? 0;
  if (waitingCount >= MAX_WAITING_REQUESTS) start(Infinity);
  else startNowOrLater({ network, userId: undefined }, start);
}

/** Calls `start` when it is the client's turn, but not before the current work has ended. */
export function takeTurnLater({ network, userId }: TurnClient, start: StartWork): void {
  const waitingByUser =
    waitingByNetwork.get(network) ?? new Map<number | undefined, WaitingWork[]>();
  const waiting = waitingByUser.get(userId) ?? [];
  waiting.push({ start, queuedAt: performance.now() });
  waitingByNetwork.set(network, waitingByUser.set(userId, waiting));
  scheduleTurn();
}

/**
 * Lets the next turns accept connections. Node accepts one per event-loop turn, so with long turns clients would wait in the kernel's queue for seconds,
 * which nobody can measure.
 */
export function acceptConnections(): void {
  hasNewConnection = true;
  scheduleTurn();
}

/** Returns the longest waiting time, in milliseconds, of networks with one piece of waiting work. The others also wait for their own work. */
export function longestWaitMs(): number {
  const waitingOnce = [...waitingByNetwork.values()].flatMap((byUser) =>
    byUser.size === 1 ? [...byUser.values()] : [],
  );
  const startTimes = waitingOnce.flatMap((waiting) =>
    waiting.length === 1 ? waiting[0]!.queuedAt : [],
  );
  return startTimes.length ? performance.now() - Math.min(...startTimes) : 0;
}

function startNowOrLater(client: TurnClient, start: StartWork): void {
  scheduleTurn();
  if (waitingByNetwork.size || isWorking || !hasTime()) takeTurnLater(client, start);
  else work(start, 0);
}

const hasTime = (): boolean => performance.now() - turnStartedAt < MAX_TURN_MS;

function scheduleTurn(): void {
  if (isTurnScheduled) return;
  isTurnScheduled = true;
  turnStartedAt = performance.now();
  setImmediate(beginTurn);
}

function beginTurn(): void {
  isTurnScheduled = false;
  acceptingTurns = hasNewConnection ? acceptingTurns + 1 : 0;
  hasNewConnection = false;
  if (waitingByNetwork.size) scheduleTurn();
  if (acceptingTurns % MAX_ACCEPTING_TURNS === 0) workOnNext();
}

function work(start: StartWork, waitedMs: number): void {
  isWorking = true;
  // A tick that is requested in a promise job runs after all promise jobs, and so after those of the work.
  queueMicrotask(() => process.nextTick(endWork));
  start(waitedMs);
}

function endWork(): void {
  isWorking = false;
  // Not in this tick: other ticks, such as those that send batches of loads, would run before the promise jobs of the next work.
  if (hasTime()) queueMicrotask(workOnNext);
}

/** Starts the next work of the next client, if any waits. The user and the network go to the end of the round robin. */
function workOnNext(): void {
  const [network, waitingByUser] = firstOf(waitingByNetwork) ?? [];
  if (!waitingByUser || isWorking) return;
  const [userId, waiting] = firstOf(waitingByUser)!;
  const { start, queuedAt } = waiting.shift()!;
  waitingByUser.delete(userId);
  if (waiting.length) waitingByUser.set(userId, waiting);
  waitingByNetwork.delete(network!);
  if (waitingByUser.size) waitingByNetwork.set(network!, waitingByUser);
  work(start, performance.now() - queuedAt);
}

const firstOf = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;
