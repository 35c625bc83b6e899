/**
 * Clients that do not read their events: the server produces the next event when the previous one
 * has been sent.
 */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { until } from '../../setup/waits';

const METRICS_TOKEN = 'a token for metrics of this file only';
const fitgraph = fitgraphForThisFile({ environment: { METRICS_TOKEN } });

const PAGES = 8;
const CHANGES_PER_EVENT = 500;

/** With notes of this length, an event has 5 MB, more than a connection holds that nobody reads. */
const NOTES_LENGTH = 10_000;

async function metric(name: string): Promise<number> {
  const { text } = await fitgraph.anonymous
    .withHeaders({ Authorization: `Bearer ${METRICS_TOKEN}` })
    .send('GET', '/metrics');

  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1]);
}

const deliveredEvents = () => metric('fitgraph_subscription_events_total');

/**
 * Writes rows with notes of the given length, and returns the subscription to them, which has an
 * event for each page.
 */
async function manyChanges(
  person: Person,
  { pages = PAGES, notesLength = NOTES_LENGTH } = {},
): Promise<string> {
  const { changes } = await person.ask('{ changes { cursor } }');
  const workout = (await person.post('/workout/', {})).body.id;

  await fitgraph.sql(
    `INSERT INTO "workout_session" ("user_id", "workout_id", "date", "notes", "impression")
      SELECT $1, $2, date '1990-01-01' + n, repeat('x', ${notesLength}), '2' FROM generate_series(1, ${pages * CHANGES_PER_EVENT}) n`,
    [person.id, workout],
  );

  return `subscription { changed(since: "${changes.cursor}") { changes { node { ... on WorkoutSession { notes } } } } }`;
}

/** Waits until no further events are produced, and returns how many there are since the `start`. */
async function eventsUntilIdle(start: number): Promise<number> {
  let events = start;

  await until('no further events are produced', async () => {
    const before = events;

    await sleep(500);
    events = await deliveredEvents();
    return events === before && events > start;
  });

  return events - start;
}

test('produces no further events for a client of an event stream that does not read, and all of them once it does', async () => {
  const ann = await fitgraph.user('ann');
  const query = await manyChanges(ann);
  const start = await deliveredEvents();
  const socket = net.connect(Number(new URL(fitgraph.url).port), 'localhost');

  try {
    socket.write(
      `GET /graphql/stream?query=${encodeURIComponent(query)} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Token ${ann.token}\r\n\r\n`,
    );
    expect(await eventsUntilIdle(start)).toBeLessThan(PAGES / 2 + 1);

    let received = 0;
    let rest = '';

    socket.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString('latin1');

      received += text.split('event: next').length - 1;
      rest = text.slice(-'event: nex'.length);
    });
    await until('all events are received', () => received >= PAGES);
  } finally {
    socket.destroy();
  }
});

test('keeps the connection of a WebSocket client that sends messages while it reads slowly', async () => {
  const bob = await fitgraph.user('bob');
  const query = await manyChanges(bob);
  const start = await deliveredEvents();
  const client = new WebSocket(
    `${fitgraph.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const received: string[] = [];
  let closeCode: number | undefined;

  client.on('close', (code) => (closeCode = code));
  client.on('message', (data) =>
    received.push((JSON.parse(String(data)) as { type: string }).type),
  );
  const count = (type: string) => received.filter((one) => one === type).length;
  const send = (message: object) => client.send(JSON.stringify(message));

  try {
    await new Promise((resolve) => client.once('open', resolve));
    send({ type: 'connection_init', payload: { Authorization: `Token ${bob.token}` } });
    await until('the connection is accepted', () => count('connection_ack') === 1);
    for (const id of ['one', 'two']) send({ type: 'subscribe', id, payload: { query } });
    client.pause();
    expect(await eventsUntilIdle(start)).toBeLessThan(PAGES);
    send({ type: 'ping' });
    client.resume();
    await until(
      'everything is received',
      () => closeCode !== undefined || (count('next') >= 2 * PAGES && count('pong') === 1),
    );
    expect(closeCode).toBeUndefined();
  } finally {
    client.terminate();
  }
});

test.each([
  ['running', 'carl', (subscribe: object) => [{ type: 'complete', id: '1' }, subscribe]],
  [
    'being set up',
    'dora',
    (subscribe: object) => [
      { ...subscribe, id: '2' },
      { type: 'complete', id: '2' },
      { ...subscribe, id: '2' },
    ],
  ],
])(
  'closes a WebSocket that uses the id of a subscription again while it is %s',
  async (_state, name, messages) => {
    const person = await fitgraph.user(name);
    // Events that are so short that messages of the client are still handled while one cannot be
    // sent.
    const query = await manyChanges(person, { pages: 20, notesLength: 1_500 });
    const before = await metric('fitgraph_subscriptions');
    const start = await deliveredEvents();
    const client = new WebSocket(
      `${fitgraph.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
    );
    const closed = new Promise<number>((resolve) => client.once('close', resolve));
    const send = (message: object) => client.send(JSON.stringify(message));
    const subscribe = { type: 'subscribe', id: '1', payload: { query } };

    await new Promise((resolve) => client.once('open', resolve));
    send({ type: 'connection_init', payload: { Authorization: `Token ${person.token}` } });
    await new Promise((resolve) => client.once('message', resolve));
    send(subscribe);
    client.pause();
    expect(await eventsUntilIdle(start)).toBeLessThan(20);
    // Sends the messages in one packet.
    const { _socket: underlying } = client as unknown as { _socket: net.Socket };

    underlying.cork();
    messages(subscribe).forEach(send);
    underlying.uncork();
    // The server has received the messages when it has answered a request that was sent after them.
    await person.get('/workout/');
    client.resume();
    expect(await closed).toBe(4409);
    await until(
      'all subscriptions have ended',
      async () => (await metric('fitgraph_subscriptions')) <= before,
    );
  },
);

test('asks proxies not to buffer events, and names no content coding', async () => {
  const ann = await fitgraph.user('ann');
  const end = new AbortController();

  for (const path of ['/graphql/stream', '/graphql']) {
    const { status, headers } = await fetch(fitgraph.url + path, {
      method: 'POST',
      signal: end.signal,
      headers: {
        Accept: 'text/event-stream',
        'Content-Type': 'application/json',
        Authorization: `Token ${ann.token}`,
      },
      body: JSON.stringify({ query: 'subscription { changed { cursor } }' }),
    });

    expect([status, headers.get('x-accel-buffering'), headers.get('content-encoding')]).toEqual([
      200,
      'no',
      null,
    ]);
  }

  end.abort();
});
