/** Serves every resource of a GraphQL schema as REST. It knows GraphQL and HTTP, and nothing of any resource. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { asReference, plainFloats } from '../contract/floats';
import { answerTooLong } from '../contract/messages';
import { corsOf, preflight } from '../platform/cors';
import { MAX_MEMBERS } from '../platform/jsonlimits';
import { jsonInPieces, TooLongError } from '../platform/jsonpieces';
import { limitsOfStrangers, type MultipartLimits } from '../platform/multipart';
import { admit } from './admission';
import { answersOf } from './answers';
import { readBody, type Body } from './dialect/body';
import { csrfTokenOf } from './dialect/csrf';
import { takeForm } from './dialect/forms';
import { MEDIA, negotiate, negotiateUnknown } from './dialect/negotiate';
import { MAX_SHOWN } from './dialect/pagination';
import { queryOf } from './dialect/query';
import { endpointsOf, type Endpoints, type Prepare } from './endpoints';
import { badRequest, notFound, ofGraphQL, RestError } from './errors';
import type { Described, Pages, Shown } from './page';
import { isKnown } from './preconditions';
import type { Answer, Exchange, Request } from './request';
import { headersOf, ofEverybody, respond } from './respond';
import { findRoute, SAFE, type Route } from './routes';

export interface RestOptions {
  schema: GraphQLSchema;
  prepare: Prepare;
  open(request: IncomingMessage): Exchange;
  /** What a browser is shown instead of bare JSON. */
  pages(described: Described): Pages;
  /** Pages take long to make, so they wait for their turn, outside of which bodies are read. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  limits: MultipartLimits;
  /** In bytes: of a JSON body. */
  maxResponse: number;
  timeZone: string;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function restHandler(options: RestOptions): Handler {
  const router = new Router(options);
  return (message, response) => router.handle(message, response);
}

/** What was refused is an answer too; everything else that is thrown is a mistake of ours. */
async function settled<Result>(work: () => Promise<Result>): Promise<Result | RestError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RestError) return error;
    if (error instanceof GraphQLError) return ofGraphQL(error);
    throw error;
  }
}

/** Rows of a list that are written in pieces, between which others are answered. */
const LONG = 200;
const rowsIn = (body: unknown): number => (body as { results?: unknown[] } | null)?.results?.length ?? 0;

class Router {
  private readonly endpoints: Endpoints;
  private readonly answers: ReturnType<typeof answersOf>;
  private readonly pages: Pages;

  constructor(private readonly options: RestOptions) {
    const { schema, prepare, timeZone } = options;
    const endpoints = (this.endpoints = endpointsOf(schema, prepare));
    this.answers = answersOf(schema, endpoints, timeZone);
    const describe: Described['describe'] = (route, request) => this.answers(route, { ...request, method: 'OPTIONS' });
    this.pages = options.pages({ endpoints, describe });
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = message.url ?? '/';
    const [path = ''] = url.split('?', 1);
    const search = url.slice(path.length);
    const exchange = this.options.open(message);
    if (preflight(message, response)) return;
    const route = findRoute(this.endpoints, path);
    if (route === 'redirect')
      return void response
        .writeHead(301, { Location: `${path}/${search === '?' ? '' : search}`, 'Content-Length': '0', ...corsOf(message) })
        .end();
    exchange.route = route;
    const { limits } = this.options;
    let reading: Promise<Body> | undefined;
    const request: Request = {
      message,
      method: message.method ?? 'GET',
      path,
      query: queryOf(search.slice(1)),
      route,
      wanted: { format: 'json' },
      exchange,
      signedIn: false,
      body: (known = request.signedIn) =>
        (reading ??= readBody(message, response, known ? { ...limits, sender: exchange.sender } : limitsOfStrangers(limits))),
    };
    await this.send(await settled(() => this.answer(request)), request, response);
  }

  private async answer(request: Request): Promise<Answer> {
    const { message, route, query, exchange } = request;
    const { accept } = message.headers;
    if (!route) {
      request.wanted = negotiateUnknown(accept);
      // A page tells who looks at it, even where there is nothing.
      if (request.wanted.format === 'api') request.signedIn = await exchange.authenticate().catch(() => false);
      throw notFound();
    }
    request.wanted = negotiate(accept, query, route.suffix);
    if (query.size > MAX_MEMBERS) throw badRequest(`A query has at most ${MAX_MEMBERS} parameters.`);
    const isPage = request.wanted.format === 'api';
    if (isPage) request.most = MAX_SHOWN;
    try {
      request.signedIn = await exchange.authenticate(() => csrfTokenOf(request));
    } finally {
      // The form is kept if its sender is refused, so that nothing typed is lost.
      if (isPage) await takeForm(request);
    }
    admit(route, request);
    if (request.method === 'HEAD') request.method = 'GET';
    if (!isPage) return this.once(route, request);
    await this.pages.understand(request);
    return SAFE.includes(request.method) ? this.options.inTurn(() => this.once(route, request)) : this.once(route, request);
  }

  private async once(route: Route, request: Request): Promise<Answer> {
    const { message, method, exchange } = request;
    const answer = () => this.answers(route, request);
    if (message.headers['idempotency-key'] === undefined || SAFE.includes(method) || !exchange.once) return answer();
    return exchange.once((await request.body()).data, () => settled(answer));
  }

  private async send(answer: Answer, request: Request, response: ServerResponse): Promise<void> {
    const { message, wanted, form, exchange } = request;
    const { status, body } = answer;
    const isPage = wanted.format === 'api' && status < 500 && (body !== undefined || form !== undefined);
    let text: string | undefined;
    if (!isPage && body !== undefined) {
      const isLong = wanted.indent === undefined && rowsIn(body) > LONG;
      text = isLong ? await this.longText(body) : asReference(JSON.stringify(body, null, wanted.indent));
      const bytes = text === undefined ? Infinity : Buffer.byteLength(text);
      if (bytes > this.options.maxResponse) return this.send(badRequest(answerTooLong(this.options.maxResponse)), request, response);
      exchange.sent(bytes);
    }
    const headers = headersOf(request, answer.headers, exchange.headers());
    // It is the tag of this representation alone; in others there are other bytes.
    if (wanted.format !== 'json' || wanted.indent !== undefined) delete headers.ETag;
    // A browser stays where it is when it gets no content, so who deletes by a form gets a page that says so.
    // Whatever is wrong with the server, no page can be made that tells who looks at it.
    if (isPage) return this.sendPage({ request, answer: { ...answer, body: plainFloats(body) }, headers }, response);
    if ((message.method === 'GET' || message.method === 'HEAD') && status === 200 && text !== undefined) {
      if (!headers.ETag && !headers['Cache-Control']) Object.assign(headers, ofEverybody(text));
      if (headers.ETag && isKnown(message.headers, headers.ETag)) return void response.writeHead(304, headers).end();
    }
    respond(response, status, headers, MEDIA.json, text);
  }

  /** Undefined where it would be longer than it may be. */
  private async longText(body: unknown): Promise<string | undefined> {
    try {
      return asReference(await jsonInPieces(body, this.options.maxResponse));
    } catch (error) {
      if (error instanceof TooLongError) return undefined;
      throw error;
    }
  }

  private async sendPage(shown: Shown, response: ServerResponse): Promise<void> {
    // What a page shows beside the answer may be refused where the answer was not.
    const page = await this.options.inTurn(() => settled(() => this.pages.show(shown)));
    if (page instanceof RestError)
      return respond(response, page.status, headersOf(shown.request, page.headers), MEDIA.json, JSON.stringify(page.body));
    const status = shown.answer.status === 204 ? 200 : shown.answer.status;
    respond(response, status, { ...shown.headers, ...page.headers }, `${MEDIA.api}; charset=utf-8`, page.text);
  }
}
