/** A client that does not read its events: the server produces the next event when the previous one has been sent. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { until } from '../../setup/waits';

const METRICS_TOKEN = 'a token for metrics of this file only';
const fitgraph = fitgraphForThisFile({ environment: { METRICS_TOKEN } });

const PAGES = 8;
const CHANGES_PER_EVENT = 500;
/** With notes of this length, an event has 5 MB, more than a connection holds that nobody reads. */
const NOTES_LENGTH = 10_000;

async function deliveredEvents(): Promise<number> {
  const { text } = await fitgraph.anonymous.withHeaders({ Authorization: `Bearer ${METRICS_TOKEN}` }).send('GET', '/metrics');
  return Number(/^fitgraph_subscription_events_total (\d+)$/m.exec(text)![1]);
}

test('produces no further events for a client that does not read, and all of them once it does', async () => {
  const ann = await fitgraph.user('ann');
  const { changes } = await ann.ask('{ changes { cursor } }');
  const workout = (await ann.post('/workout/', {})).body.id;
  await fitgraph.sql(
    `INSERT INTO "workout_session" ("user_id", "workout_id", "date", "notes", "impression")
      SELECT $1, $2, date '1990-01-01' + n, repeat('x', ${NOTES_LENGTH}), '2' FROM generate_series(1, ${PAGES * CHANGES_PER_EVENT}) n`,
    [ann.id, workout],
  );
  const query = `subscription { changed(since: "${changes.cursor}") { changes { node { ... on WorkoutSession { notes } } } } }`;
  const socket = net.connect(Number(new URL(fitgraph.url).port), 'localhost');
  try {
    socket.write(
      `GET /graphql/stream?query=${encodeURIComponent(query)} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Token ${ann.token}\r\n\r\n`,
    );
    await until('the first event is produced', async () => (await deliveredEvents()) > 0);
    let events = 0;
    await until('no further events are produced', async () => {
      const before = events;
      await sleep(500);
      events = await deliveredEvents();
      return events === before;
    });
    expect(events).toBeLessThan(PAGES / 2 + 1);

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
