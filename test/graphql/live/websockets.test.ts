/** Limit of anonymous WebSockets per network. */
import WebSocket from 'ws';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { until } from '../../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { TRUSTED_PROXIES: '127.0.0.1, ::1' } });

const MAX_SOCKETS = 100;
const from = (network: string) => ({ 'X-Forwarded-For': network });

const opened: (() => void)[] = [];

afterEach(() => {
  while (opened.length) opened.pop()!();
});

/**
 * Opens a WebSocket. Returns the type of the first message, or the close code if the connection was
 * rejected.
 */
function socket(network: string): Promise<string | number> {
  const client = new WebSocket(
    `${fitgraph.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
    { headers: from(network) },
  );

  opened.push(() => client.terminate());
  return new Promise((resolve, reject) => {
    client.on('open', () => client.send('{"type":"connection_init"}'));
    client.on('message', (data) => resolve(JSON.parse(String(data)).type));
    client.on('close', resolve);
    client.on('error', reject);
  });
}

test('closes the 101st anonymous WebSocket of an IPv4 address or IPv6 /64 network with 4429', async () => {
  const answers = await Promise.all(
    Array.from({ length: MAX_SOCKETS }, () => socket('203.0.113.1')),
  );

  expect(new Set(answers)).toEqual(new Set(['connection_ack']));
  expect(await socket('203.0.113.1')).toBe(4429);
  // IPv6 clients are counted by /64 network, because that is what a customer usually has.
  for (let host = 1; host <= MAX_SOCKETS; host += 1) await socket(`2001:db8::${host}`);
  expect([await socket('2001:db8::ffff'), await socket('2001:db8:0:1::1')]).toEqual([
    4429,
    'connection_ack',
  ]);
});

test('accepts anonymous WebSockets again after others were closed', async () => {
  for (let time = 0; time < 3; time += 1) {
    const openAll = () =>
      Promise.all(Array.from({ length: MAX_SOCKETS }, () => socket('203.0.113.3')));

    const close = () => {
      while (opened.length) opened.pop()!();
    };

    await until('new WebSockets are accepted', async () => {
      const answers = await openAll();

      if (answers.every((answer) => answer === 'connection_ack')) return true;
      close();
      return false;
    });
    expect(await socket('203.0.113.3')).toBe(4429);
    close();
  }
});

test('releases the slots of WebSockets that disconnect while their session is looked up', async () => {
  const network = '203.0.113.4';
  const disconnectDuringLookup = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { ...from(network), Cookie: `fitgraph=${'A'.repeat(43)}` };
      const client = new WebSocket(
        `${fitgraph.url.replace('http', 'ws')}/graphql`,
        'graphql-transport-ws',
        { headers },
      );

      client.on('open', () => client.send('{"type":"connection_init"}', () => client.terminate()));
      client.on('close', () => resolve());
      client.on('error', reject);
    });

  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 50 }, disconnectDuringLookup));
  }

  const answers = await Promise.all(Array.from({ length: MAX_SOCKETS }, () => socket(network)));

  expect(new Set(answers)).toEqual(new Set(['connection_ack']));
});

test.each(['/graphql', '/graphql/', '//graphql', '/graphql/?a=b'])(
  'accepts WebSockets at %s',
  (path) =>
    new Promise<void>((resolve, reject) => {
      const client = new WebSocket(
        fitgraph.url.replace('http', 'ws') + path,
        'graphql-transport-ws',
        { headers: from('203.0.113.4') },
      );

      opened.push(() => client.terminate());
      client.on('open', () => resolve());
      client.on('error', reject);
    }),
);

test.each(['/', '/graphqlx', '/graphql/stream'])('rejects WebSockets at %s', async (path) => {
  const client = new WebSocket(fitgraph.url.replace('http', 'ws') + path, 'graphql-transport-ws');
  const status = await new Promise((resolve) => {
    client.on('error', () => undefined);
    client.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });

  expect(status).toBe(404);
});
