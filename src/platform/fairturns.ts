/**
 * Fair turns for synchronous work that may take many milliseconds, such as validating a document or decoding a body: one piece of work per event-loop turn,
 * so that other requests are served in between. Clients take turns by network, and users of one network by user.
 */
type StartsByUser = Map<number | undefined, (() => void)[]>;

const waitingByNetwork = new Map<string, StartsByUser>();
let isTurnTaken = false;

/** Waits for a turn; not at all if nobody has taken this event-loop turn. The caller must do its work without awaiting anything else. */
export function awaitTurn(network: string, userId: number | undefined): Promise<void> {
  if (!isTurnTaken) {
    takeTurn();
    return Promise.resolve();
  }
  return new Promise((start) => {
    const startsByUser: StartsByUser = waitingByNetwork.get(network) ?? new Map();
    const starts = startsByUser.get(userId) ?? [];
    starts.push(start);
    waitingByNetwork.set(network, startsByUser.set(userId, starts));
  });
}

function takeTurn(): void {
  isTurnTaken = true;
  setImmediate(startNext);
}

function startNext(): void {
  isTurnTaken = false;
  for (const [network, startsByUser] of waitingByNetwork)
    for (const [userId, starts] of startsByUser) {
      takeTurn();
      starts.shift()!();
      // The user and the network go to the end of the round robin.
      startsByUser.delete(userId);
      if (starts.length) startsByUser.set(userId, starts);
      waitingByNetwork.delete(network);
      if (startsByUser.size) waitingByNetwork.set(network, startsByUser);
      return;
    }
}
