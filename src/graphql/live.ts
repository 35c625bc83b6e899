/** Subscriptions over server-sent events (graphql-sse) and over WebSocket (graphql-ws, the protocol graphql-transport-ws). */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import { getOperationAST, GraphQLError, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/express';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Context } from '../core/context';
import { isPassing, overloaded, RETRY_SECONDS } from '../core/model/errors';
import type { Executor, Variables } from '../core/operation/execute';
import type { HttpExchange } from '../exchange/exchange';
import { readDocument, refusal, refuse } from './handler';
import { REQUEST_ID } from '../exchange/origin';
import { shownResult } from './shownerrors';
import type { TrustedDocuments } from './trusted';

const PATH = '/graphql';
const STREAM = '/stream';
const EVENTS = 'text/event-stream';
/** WebSockets of nobody at a time: in all, and of one network. */
const MAX_ANONYMOUS = 1_000;
const MAX_OF_NETWORK = 100;

/** In milliseconds: what a browser waits before it comes back. */
const COME_BACK = 'retry: 1000\n\n';
/** https://www.iana.org/assignments/websocket */
const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;

type Params = Record<string, unknown>;

export interface LiveOptions {
  executor: Executor;
  trusted: TrustedDocuments;
  /** Bytes of one message of a WebSocket, whose sender may be unknown. */
  maxMessage: number;
  /** A new exchange, for a connection that is not an HTTP request like others. */
  open(request: IncomingMessage): HttpExchange;
  /** The exchange of a request that is being answered. */
  known(request: IncomingMessage): HttpExchange;
  /** From where it came. */
  networkOf(request: IncomingMessage): string;
  /** Whether there is no time for anything new of a stranger, or of somebody signed in. */
  refuses(isStranger: boolean): boolean;
  failed(error: unknown): void;
}

export interface Live {
  events: RequestHandler;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  end(): void;
  /** Of subscribers: event streams and WebSockets. */
  connections(): { events: number; sockets: number };
}

/** The library has words of its own for caches, which would let a browser keep what one person was told. */
function keptByNobody(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => ServerResponse;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    for (const part of rest) if (part && typeof part === 'object') delete (part as Record<string, unknown>)['cache-control'];
    return writeHead(status, ...rest);
  }) as typeof response.writeHead;
}

const JSON_BODY = 'The body must be JSON, with the Content-Type application/json.';

const refused = (message: string) => new GraphQLError(message, { extensions: { code: 'BAD_REQUEST' } });

/** What a browser's cookie may do over a WebSocket it may do with a CSRF token only, as if it came by POST: no same-origin rule holds there. */
function asPost(request: IncomingMessage, parameters: Record<string, unknown> | undefined): IncomingMessage {
  const given = Object.fromEntries(Object.entries(parameters ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const text = (name: string) => (typeof given[name] === 'string' ? { [name]: given[name] } : {});
  return Object.create(request, {
    method: { value: 'POST' },
    headers: { value: { ...request.headers, ...text('authorization'), ...text('x-csrftoken') } },
  }) as IncomingMessage;
}

/** What is wrong comes as an event, as graphql-sse wants it. */
async function* once(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/** With a context as the transports think of one: a record of whatever there is. */
type Asked = ExecutionArgs & { contextValue: Context & Record<PropertyKey, unknown> };

/** Not a generator of its own: those end only once they have what they wait for. */
const mapped = (events: AsyncGenerator<ExecutionResult, void, void>, map: (result: ExecutionResult) => ExecutionResult) =>
  Object.create(events, {
    next: {
      value: async () => {
        const { done, value } = await events.next();
        return done ? { done, value } : { done: false, value: map(value) };
      },
    },
  }) as typeof events;

export function liveTransports({ executor, trusted, maxMessage, open, known, networkOf, refuses, failed }: LiveOptions): Live {
  const streams = new Set<ServerResponse>();
  let leaving = false;
  /** The WebSockets of nobody, by their networks; how much may be followed over them is limited where it is read. */
  const anonymous = new Map<unknown, string>();

  /** Whether one more of nobody may stay. */
  function take(connection: unknown, network: string): boolean {
    if (anonymous.size >= MAX_ANONYMOUS) return false;
    let others = 0;
    for (const other of anonymous.values()) if (other === network) others += 1;
    if (others >= MAX_OF_NETWORK) return false;
    anonymous.set(connection, network);
    return true;
  }

  /** What graphql-js's `subscribe` takes, or what is wrong. */
  function argsOf(params: Params, exchange: HttpExchange): Asked | GraphQLError[] {
    const context: Context = exchange.context;
    let resolved: Params;
    try {
      resolved = trusted.resolve(params);
    } catch (error) {
      return [error as GraphQLError];
    }
    const { query, operationName, variables } = resolved;
    const name = typeof operationName === 'string' && operationName !== '' ? operationName : undefined;
    if (typeof query !== 'string') return [refused('The operation must have a `query`.')];
    const document = readDocument(executor.schema, query);
    if (!('kind' in document)) return [...shownResult({ errors: document }, context.viewer !== null).errors!];
    const operation = getOperationAST(document, name);
    exchange.operation = operation?.name?.value;
    if (operation?.operation !== 'subscription') return [refused(`Only subscriptions run here; queries and mutations go to POST ${PATH}.`)];
    return {
      schema: executor.schema,
      document,
      operationName: name,
      variableValues: (variables ?? {}) as Variables,
      contextValue: context as Asked['contextValue'],
    };
  }

  const subscribe = async ({ document, operationName, contextValue, variableValues }: ExecutionArgs) => {
    const context = contextValue as Context;
    const found = await executor.subscribe(document, operationName ?? undefined, context, (variableValues ?? {}) as Variables);
    const shown = (result: ExecutionResult) => shownResult(result, context.viewer !== null);
    return 'next' in found ? mapped(found, shown) : shown(found);
  };

  const serveEvents = createHandler({
    // Every subscription has a connection of its own: that needs no state between requests, which may reach different instances.
    authenticate: () => null,
    subscribe,
    onSubscribe: async ({ raw }, params) => {
      const exchange = known(raw);
      await exchange.authenticate();
      const args = argsOf({ ...params }, exchange);
      return Array.isArray(args) ? once({ errors: args }) : args;
    },
  });

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessage,
    handleProtocols: (protocols) => protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) && GRAPHQL_TRANSPORT_WS_PROTOCOL,
  });
  sockets.on('headers', (headers, request) => void headers.push(`X-Request-Id: ${String(request.headers[REQUEST_ID])}`));
  const served = useServer<Record<string, unknown>, { exchange?: () => HttpExchange }>(
    {
      onConnect: async ({ extra, connectionParams }) => {
        const request = asPost(extra.request, connectionParams);
        extra.exchange = () => open(request);
        const close = (code: CloseCode, reason: string) => extra.socket.close(code, reason);
        try {
          // Who is nobody may follow the catalogue; wrong credentials are a mistake.
          if (await extra.exchange().authenticate()) return;
        } catch (error) {
          if (isPassing(error)) return extra.socket.close(TRY_AGAIN_LATER, 'Try Again Later');
          return close(CloseCode.Unauthorized, 'Unauthorized');
        }
        if (!take(extra.socket, networkOf(request))) return close(CloseCode.TooManyInitialisationRequests, 'Too many connections');
      },
      onClose: ({ extra }) => void anonymous.delete(extra.socket),
      onSubscribe: async ({ extra }, _id, params) => {
        const exchange = extra.exchange!();
        try {
          // A connection that is open costs nothing; what is asked for over it waits for nobody before it begins.
          if (refuses(anonymous.has(extra.socket))) throw overloaded();
          await exchange.authenticate();
        } catch (error) {
          return [refusal(error) as GraphQLError];
        }
        return argsOf({ ...params }, exchange);
      },
      subscribe,
    },
    sockets,
  );

  return {
    events(request, response, next) {
      const { path } = request;
      const accepted = request.headers.accept ?? '';
      // Some clients use one address for everything and say by Accept that they want events and nothing else.
      if (path !== STREAM && !(path === '/' && accepted.includes(EVENTS) && !accepted.includes('json'))) return next();
      if (leaving) {
        response.setHeader('Retry-After', String(RETRY_SECONDS));
        return refuse(request, response, 503, 'SERVICE_UNAVAILABLE', 'The server is about to end. Come back in a moment.');
      }
      // It would read a body that our parser took for something else, however long it is.
      if (request.method === 'POST' && request.body === undefined) return refuse(request, response, 415, 'BAD_REQUEST', JSON_BODY);
      // graphql-sse knows no list of types here.
      if (accepted.includes(EVENTS)) request.headers.accept = EVENTS;
      keptByNobody(response);
      streams.add(response);
      response.once('close', () => streams.delete(response));
      serveEvents(request, response).catch((error) => {
        const shown = refusal(error);
        if (!(shown instanceof GraphQLError) || response.headersSent) return next(error);
        const { status = 500 } = (shown.extensions.http ?? {}) as { status?: number };
        response.status(status).json({ errors: [shown] });
      });
    },
    upgrade(request, socket, head) {
      // A client that goes away early is nobody's business.
      socket.on('error', () => socket.destroy());
      if (request.url?.split('?')[0] === PATH)
        return sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
      socket.end(`HTTP/1.1 404 ${STATUS_CODES[404]}\r\nX-Request-Id: ${String(request.headers[REQUEST_ID])}\r\nConnection: close\r\n\r\n`);
    },
    connections: () => ({ events: streams.size, sockets: sockets.clients.size }),
    end() {
      leaving = true;
      // An end without the event that says that all was told: whoever follows goes on elsewhere.
      for (const response of streams) if (response.headersSent) response.end(COME_BACK);
      for (const client of sockets.clients) client.close(SERVICE_RESTART, 'Service Restart');
      Promise.resolve(served.dispose()).catch(failed);
    },
  };
}
