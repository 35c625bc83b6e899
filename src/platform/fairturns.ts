/**
 * Fair turns for synchronous work that may take many milliseconds, such as validating a document, decoding a body or completing a long list: work of at most
 * some milliseconds per event-loop turn, so that other requests are served in between. Clients take turns by network, and users of one network by user.
 */
export interface TurnClient {
  readonly network: string;
  /** Id of the signed-in user; undefined for an anonymous client. */
  readonly userId: number | undefined;
}

/** Time for work in one event-loop turn. Work that has begun is completed. */
const MAX_TURN_MS = 5;
/** Maximum number of pieces of work in one event-loop turn, because several may have been admitted before the first has taken its time. */
const MAX_WORK_PER_TURN = 8;

type StartsByUser = Map<number | undefined, (() => void)[]>;

const waitingByNetwork = new Map<string, StartsByUser>();
/** Number of pieces of work in this event-loop turn. */
let workCount = 0;
let turnStartedAt = 0;

/** Waits for a turn; not at all while this event-loop turn has time and nobody waits. The caller must do its work without awaiting anything else. */
export function awaitTurn(client: TurnClient): Promise<void> {
  if (workCount === 0) turnStartedAt = performance.now();
  const hasTime = workCount < MAX_WORK_PER_TURN && performance.now() - turnStartedAt < MAX_TURN_MS;
  if (!hasTime || waitingByNetwork.size) return new Promise((start) => takeTurnLater(client, start));
  takeTurn();
  return Promise.resolve();
}

/** Calls `start` in a later event-loop turn. */
export function takeTurnLater({ network, userId }: TurnClient, start: () => void): void {
  const startsByUser: StartsByUser = waitingByNetwork.get(network) ?? new Map();
  const starts = startsByUser.get(userId) ?? [];
  starts.push(start);
  waitingByNetwork.set(network, startsByUser.set(userId, starts));
  if (workCount === 0) takeTurn();
}

function takeTurn(): void {
  if (workCount === 0) setImmediate(startNext);
  workCount += 1;
}

/** Starts the work of one client, which has this event-loop turn for itself. */
function startNext(): void {
  workCount = 0;
  const [network, startsByUser] = firstOf(waitingByNetwork) ?? [];
  if (!startsByUser) return;
  const [userId, starts] = firstOf(startsByUser)!;
  takeTurn();
  starts.shift()!();
  // The user and the network go to the end of the round robin.
  startsByUser.delete(userId);
  if (starts.length) startsByUser.set(userId, starts);
  waitingByNetwork.delete(network!);
  if (startsByUser.size) waitingByNetwork.set(network!, startsByUser);
}

const firstOf = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;
