/**
 * Ambiguous requests: repeated headers, paths in other spellings, and upgrades to unsupported
 * protocols.
 */
import { connect } from 'node:net';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

/** Sends raw lines and returns the response. */
function sendLines(lines: string[]): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(fitgraph.url);

  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n`),
    );
    let text = '';

    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket
      .on('error', reject)
      .on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text }));
  });
}

const GET = ['GET /api/v2/language/ HTTP/1.1', 'Host: localhost', 'Connection: close'];

test('returns 400 for repeated Host or Authorization headers', async () => {
  expect((await sendLines(GET)).status).toBe(200);

  for (const header of ['Host: other', 'HOST: localhost']) {
    const { status, text } = await sendLines([...GET, header]);

    expect([status, text]).toEqual([
      400,
      expect.stringContaining('"The header host may occur only once."'),
    ]);
  }

  const token = `Authorization: Token ${(await fitgraph.user('ann')).token}`;
  const own = ['GET /api/v2/workout/ HTTP/1.1', ...GET.slice(1), token];

  expect((await sendLines(own)).status).toBe(200);
  expect((await sendLines([...own, token])).status).toBe(400);
  const graphql = await sendLines([
    'GET /graphql?query={__typename} HTTP/1.1',
    ...GET.slice(1),
    token,
    token,
  ]);

  expect([graphql.status, graphql.text]).toEqual([
    400,
    expect.stringContaining('"code":"BAD_REQUEST"'),
  ]);
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/**
 * Whether Node has `shouldUpgradeCallback`. Without it, an unsupported upgrade cannot be ignored.
 */
const canIgnoreUpgrades =
  (major === 22 && minor >= 21) || (major === 24 && minor >= 9) || major > 24;

test.each(['h2c', 'TLS/1.2', 'h2c, foo'])(
  'ignores or rejects an upgrade to %s, depending on the version of Node',
  async (protocol) => {
    const upgrade = [`Upgrade: ${protocol}`, 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'];
    const get = await sendLines([
      GET[0]!,
      GET[1]!,
      'Connection: close, Upgrade, HTTP2-Settings',
      ...upgrade,
    ]);

    if (!canIgnoreUpgrades) {
      return expect([get.status, get.text]).toEqual([
        426,
        expect.stringContaining('\r\nUpgrade: websocket\r\n'),
      ]);
    }

    expect([get.status, get.text]).toEqual([200, expect.stringContaining('"results"')]);
    const body = '{"query":"{ __typename }"}';
    const post = await sendLines([
      'POST /graphql HTTP/1.1',
      'Host: localhost',
      'Connection: close, Upgrade, HTTP2-Settings',
      ...upgrade,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ]);

    expect([post.status, post.text]).toEqual([
      200,
      expect.stringContaining('{"data":{"__typename":"Query"}}'),
    ]);
  },
);

test('matches paths case-sensitively, and protects //graphql like /graphql', async () => {
  const ann = await fitgraph.user('ann');

  for (const path of [
    '/GraphQL',
    '/GRAPHQL/logo.png',
    '/Playground',
    '/METRICS',
    '/Health/live',
    '/API/v2/language/',
  ]) {
    expect((await ann.send('GET', path)).status).toBe(404);
  }

  const answer = await ann.send('POST', '//graphql', { query: '{ viewer { id } }' });

  expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual([
    200,
    'private, no-store',
    expect.stringContaining('Authorization'),
  ]);
});
