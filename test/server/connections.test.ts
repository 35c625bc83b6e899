/** Connections of requests that are answered before the end of their bodies. */
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  discardUnreadBody,
  createParserErrorListener,
  serializePipelinedRequests,
} from '../../src/server/connections';
import { CorsPolicy } from '../../src/shared/cors';
import { until } from '../setup/waits';

/** Longer than the time that the server gives clients to send the rest of a body. */
const AFTER_DISCARDING_MS = 1_500;

let server: http.Server;

beforeAll(async () => {
  server = http.createServer((request, response) => {
    discardUnreadBody(request, response);
    response.write('begun ');
    request.resume().once('end', () => response.end('ended'));
  });
  server.listen(0);
  await once(server, 'listening');
});
afterAll(() => server.close());

test('a connection stays open when its body ends while the response is sent', async () => {
  const socket = net.connect((server.address() as AddressInfo).port);
  let received = '';

  socket.on('data', (data) => (received += data.toString()));
  const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n';

  for (const count of [1, 2]) {
    socket.write(post);
    await until('the response begins', () => received.split('begun').length > count);
    socket.write('body');
    await until('the response ends', () => received.split('ended').length > count);
    await sleep(AFTER_DISCARDING_MS);
    expect(socket.closed).toBe(false);
  }

  socket.destroy();
});

test('an idle connection does not keep its last request in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  let requestReference: WeakRef<http.IncomingMessage> | undefined;
  const queueingServer = http
    .createServer(
      serializePipelinedRequests((request, response) => {
        requestReference = new WeakRef(request);
        response.end('answered');
      }),
    )
    .listen(0);

  await once(queueingServer, 'listening');
  const socket = net.connect((queueingServer.address() as AddressInfo).port);
  let received = '';

  socket.on('data', (data) => (received += data.toString()));
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until('the response arrives', () => received.endsWith('answered'));

  await until('the request is collected', () => {
    collectGarbage();
    return requestReference!.deref() === undefined;
  });
  expect(socket.closed).toBe(false);
  socket.destroy();
  queueingServer.close();
});

describe('a request that cannot be parsed', () => {
  let strictServer: http.Server;

  beforeAll(async () => {
    strictServer = http
      .createServer(
        { connectionsCheckingInterval: 20, headersTimeout: 200 },
        serializePipelinedRequests((request, response) => {
          if (request.url === '/silent') return;
          response.write('begun ');
          if (request.url !== '/long') response.end('ended');
        }),
      )
      .listen(0);
    strictServer.on('clientError', createParserErrorListener(new CorsPolicy([])));
    await once(strictServer, 'listening');
  });
  afterAll(() => strictServer.close());

  async function answerTo(text: string): Promise<string> {
    const socket = net.connect((strictServer.address() as AddressInfo).port);
    let received = '';

    socket.on('data', (data) => (received += data.toString()));
    socket.write(text, 'latin1');
    await once(socket, 'close');
    return received;
  }

  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  test.each([
    ['the path', '/f\xfcr'],
    ['the query in UTF-8', '/search/?term=\xc3\xbc'],
    ['the query in ISO 8859-1', '/search/?term=\xfc'],
  ])('says how to encode raw bytes in %s of the URL', async (_place, target) => {
    const answer = await answerTo(get(target));

    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('Content-Type: application/json\r\n');
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      detail: expect.stringContaining('must be percent-encoded as UTF-8, such as "ü" as "%C3%BC"'),
    });
  });

  test.each([
    ['no HTTP', 'nonsense\r\n\r\n', '400 Bad Request'],
    ['long headers', get(`/${'a'.repeat(20_000)}`), '431 Request Header Fields Too Large'],
    ['unfinished headers', 'GET / HTTP/1.1\r\n', '408 Request Timeout'],
    [
      'long chunk extensions',
      `POST /silent HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n`,
      '413 Payload Too Large',
    ],
  ])('gets the status of its error: %s', async (_name, text, status) => {
    expect(await answerTo(text)).toContain(`HTTP/1.1 ${status}\r\nConnection: close\r\n`);
  });

  test('does not get its response into the response before it', async () => {
    const answer = await answerTo(get('/long') + get('/\xfc'));

    expect(answer).not.toContain('400 Bad Request');
  });
});
