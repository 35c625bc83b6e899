/** Undocumented behaviour of Node's HTTP server that `src/internals/node.ts` uses. */
import { once } from 'node:events';
import http, {
  createServer,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  deferSocketClose,
  stopAcceptingConnections,
  UpgradeFilteringRequest,
} from '../../src/internals/node';

const servers: Server[] = [];
const clients: Socket[] = [];

async function startServer(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<{ server: Server; port: number }> {
  const server = createServer(options, listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function connected(port: number, text = ''): Promise<{ socket: Socket; read(): string }> {
  // `allowHalfOpen` keeps the client's half of the connection open, as if the client were still sending a body.
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(socket);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return { socket, read: () => received };
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await sleep(5);
};

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('stopAcceptingConnections', () => {
  test('refuses connections, serves those that are idle, and emits `close` after the last of them', async () => {
    const { server, port } = await startServer((_request, response) => void response.end('served'));
    const { socket, read } = await connected(port, GET);
    await until(() => read().includes('served'));
    let isClosed = false;
    server.once('close', () => (isClosed = true));
    stopAcceptingConnections(server);
    expect(server.listening).toBe(false);
    const rejectedSocket = net.connect(port, '127.0.0.1');
    expect(((await once(rejectedSocket, 'error')) as [NodeJS.ErrnoException])[0].code).toBe(
      'ECONNREFUSED',
    );
    socket.write(GET);
    await until(() => read().split('served').length === 3);
    expect(isClosed).toBe(false);
    server.closeIdleConnections();
    await until(() => isClosed);
  });

  test('`close` of the HTTP server would close idle connections', async () => {
    const { server, port } = await startServer((_request, response) => void response.end('served'));
    const { socket, read } = await connected(port, GET);
    await until(() => read().includes('served'));
    const ended = once(socket, 'end');
    server.close();
    await ended;
  });
});

describe('deferSocketClose', () => {
  const post = (length: number) =>
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;

  test('the server half-closes the connection after the last response, and closes it when the close is released', async () => {
    let close = (): void => undefined;
    let serverSocket: Socket | undefined;
    const { port } = await startServer((request, response) => {
      response.prependOnceListener('finish', () => {
        serverSocket = request.socket;
        close = deferSocketClose(request.socket);
      });
      response.end('rejected');
    });
    const { socket, read } = await connected(port, post(10));
    const ended = once(socket, 'end');
    await until(() => read().includes('rejected'));
    await ended;
    await sleep(50);
    expect(serverSocket!.destroyed).toBe(false);
    expect(Object.hasOwn(serverSocket!, 'destroySoon')).toBe(true);
    close();
    expect(Object.hasOwn(serverSocket!, 'destroySoon')).toBe(false);
    await until(() => serverSocket!.destroyed);
  });

  test('without it the server closes the connection immediately', async () => {
    let serverSocket: Socket | undefined;
    const { port } = await startServer((request, response) => {
      serverSocket = request.socket;
      response.end('rejected');
    });
    await connected(port, post(10));
    await until(() => serverSocket?.destroyed === true);
  });
});

describe('UpgradeFilteringRequest', () => {
  class Request extends UpgradeFilteringRequest {
    protected override acceptsUpgrade(): boolean {
      return this.headers.upgrade === 'accepted';
    }
  }

  test.each([
    ['accepted', 'upgrade'],
    ['other', 'request'],
  ])('`Upgrade: %s` is reported as %s', async (protocol, expected) => {
    const { server, port } = await startServer(
      (_request, response) => void response.end('request'),
      {
        IncomingMessage: Request as unknown as typeof http.IncomingMessage,
        ServerResponse,
      },
    );
    server.on('upgrade', (_request, socket) => void socket.end('upgrade'));
    const { read } = await connected(
      port,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
    );
    await until(() => read().endsWith(expected) || read().includes(`\r\n\r\n${expected}`));
  });
});
