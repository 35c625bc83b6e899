/** Requests that Node's HTTP parser rejects receive an error with the reason: JSON, or a page for browsers. */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createLogger } from '../../src/platform/logging';
import { respondToHttpParserErrors } from '../../src/server/httpparsererrors';
import { until } from '../setup/waits';

let server: Server;
let release: () => void;
const logged: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/slow') release = () => response.end('slow');
    else response.end('fine');
  });
  respondToHttpParserErrors(server, createLogger('info', { write: (line) => void logged.push(line) }));
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Sends the text as UTF-8 and resolves with everything that is received until the connection closes. */
function send(text: string, then?: () => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect((server.address() as AddressInfo).port, 'localhost', () =>
      socket.write(Buffer.from(text, 'utf8'), () => then?.()),
    );
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

const parsed = (answer: string) => {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return {
    id: /x-request-id: (.*)/i.exec(head)?.[1],
    status: Number(head.slice(9, 12)),
    type: /content-type: (.*)/i.exec(head)?.[1],
    body: body && JSON.parse(body),
  };
};

test.each<[what: string, text: string, status: number, detail: RegExp]>([
  [
    'raw UTF-8 in a query',
    'GET /api/v2/workout/?comment=ä HTTP/1.1\r\nHost: a\r\n\r\n',
    400,
    /^The URL contains characters that must be percent-encoded/,
  ],
  ['raw UTF-8 in a path', 'GET /api/v2/wörkout/ HTTP/1.1\r\nHost: a\r\n\r\n', 400, /percent-encoded/],
  ['a space in a query', 'GET /api/v2/workout/?comment=a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, /Expected HTTP/],
  ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n', 400, /^The method/],
  ['a URL that is too long', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, /too long/],
  ['an invalid header name', 'GET / HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n', 400, /header/i],
  ['an invalid Content-Length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400, /Content-Length/],
])('logs a request and returns the reason in JSON for %s', async (_what, text, status, detail) => {
  const answer = parsed(await send(text));
  expect(answer).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    status,
    type: 'application/json',
    body: { detail: expect.stringMatching(detail) },
  });
  const line = JSON.parse(logged.find((one) => one.includes(answer.id!))!);
  expect(line).toMatchObject({ level: 30, msg: 'unreadable request', status, address: expect.stringMatching(/127\.0\.0\.1|::1/) });
});

test('closes the connection without an error response when another response is pending', async () => {
  const answer = await send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n');
  release();
  expect(answer).toBe('');
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const tooLong = (accept: string) => `GET / HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nCookie: a=${'a'.repeat(20_000)}\r\n\r\n`;

test('returns a page to browsers whose cookies are too long', async () => {
  const answer = await send(tooLong(BROWSER));
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(answer).toMatch(/\r\nContent-Type: text\/html; charset=utf-8\r\n/);
  expect(answer).toContain("default-src 'none'");
  expect(answer).toContain('delete the cookies that this site has stored in your browser');
  const [, length, body] = /Content-Length: (\d+)[^]*?\r\n\r\n([^]*)$/.exec(answer)!;
  expect(Buffer.byteLength(body!)).toBe(Number(length));
  const json = parsed(await send(tooLong('application/json, text/html')));
  expect([json.type, json.body]).toEqual(['application/json', { detail: 'The URL and the headers are too long.' }]);
});

test('returns a page when the previous request of the connection came from a browser', async () => {
  const socket = connect((server.address() as AddressInfo).port, 'localhost');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.write(`GET / HTTP/1.1\r\nHost: a\r\nAccept: ${BROWSER}\r\n\r\n`);
  await until('the first response is received', () => received.includes('fine'));
  socket.write('UNREADABLE\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(received).toMatch(/HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/html/);
});
