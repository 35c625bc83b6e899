/**
 * Fair turns for synchronous work that may take many milliseconds, such as validating a document, decoding a body or completing a long list: one piece of
 * work per event-loop turn, so that other requests are served in between. Clients take turns by network, and users of one network by user.
 */
export interface TurnClient {
  readonly network: string;
  /** Id of the signed-in user; undefined for an anonymous client. */
  readonly userId: number | undefined;
}

type StartsByUser = Map<number | undefined, (() => void)[]>;

const waitingByNetwork = new Map<string, StartsByUser>();
let isTurnTaken = false;

/** Waits for a turn; not at all if nobody has taken this event-loop turn. The caller must do its work without awaiting anything else. */
export function awaitTurn(client: TurnClient): Promise<void> {
  if (isTurnTaken) return new Promise((start) => takeTurnLater(client, start));
  takeTurn();
  return Promise.resolve();
}

/** Calls `start` in a later event-loop turn. */
export function takeTurnLater({ network, userId }: TurnClient, start: () => void): void {
  const startsByUser: StartsByUser = waitingByNetwork.get(network) ?? new Map();
  const starts = startsByUser.get(userId) ?? [];
  starts.push(start);
  waitingByNetwork.set(network, startsByUser.set(userId, starts));
  if (!isTurnTaken) takeTurn();
}

function takeTurn(): void {
  isTurnTaken = true;
  setImmediate(startNext);
}

function startNext(): void {
  isTurnTaken = false;
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
