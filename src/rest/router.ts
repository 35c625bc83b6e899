/** Serves every resource of a GraphQL schema as REST. It knows GraphQL and HTTP, and nothing of any resource. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { arrivedOf, queryOf, readBody, type Body } from './dialect/body';
import { admit, SAFE } from './admission';
import { Answers } from './answers';
import { csrfTokenOf } from './dialect/csrf';
import { limitsOfStrangers, type MultipartLimits } from '../platform/multipart';
import { endpointsOf, prepareOperation, type Endpoints, type Prepare } from './endpoints';
import { notFound, ofGraphQL, RestError } from './errors';
import { formOf, isForm } from './dialect/forms';
import { DOCUMENT } from './login';
import { snake } from '../contract/casing';
import { MEDIA, negotiate, negotiateUnknown, type Wanted } from './dialect/negotiate';
import { MAX_SHOWN } from './dialect/pagination';
import type { Page, Pages, Shown, Sources } from './page';
import { isKnown } from './preconditions';
import type { Answer, Exchange, Request } from './request';
import { corsOf, headersOf, ofEverybody, PREFLIGHT, respond } from './respond';
import { findRoute, type Route } from './routes';

export interface RestOptions {
  schema: GraphQLSchema;
  publicSchema: GraphQLSchema;
  prepare: Prepare;
  open(request: IncomingMessage): Exchange;
  /** What a browser is shown instead of bare JSON. */
  pages(sources: Sources): Pages;
  /** Pages take long to make, so they wait for their turn, outside of which bodies are read. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  limits: MultipartLimits;
  timeZone: string;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function restHandler(options: RestOptions): Handler {
  const router = new Router(options);
  return (message, response) => router.handle(message, response);
}

/** What was refused is an answer too; everything else that is thrown is a mistake of ours. */
async function settled(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RestError) return error;
    if (error instanceof GraphQLError) return ofGraphQL(error, snake);
    throw error;
  }
}

/** An answer on its way: to what, and how it is wanted. */
interface Outgoing {
  message: IncomingMessage;
  response: ServerResponse;
  route?: Route;
  request: Request;
  wanted: Wanted;
}

class Router {
  private readonly endpoints: Endpoints;
  private readonly answers: Answers;
  private readonly pages: Pages;

  constructor(private readonly options: RestOptions) {
    const { schema, publicSchema, prepare, timeZone } = options;
    const endpoints = (this.endpoints = endpointsOf(schema, prepare));
    const login = prepareOperation(prepare, DOCUMENT);
    this.answers = new Answers(schema, endpoints, login, timeZone);
    const describe = (route: Route, request: Request) => this.answers.describe(route, request);
    this.pages = options.pages({ schema, publicSchema, endpoints, login, prepare, describe });
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const exchange = this.options.open(message);
    const method = message.method ?? 'GET';
    if (method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined) {
      response.writeHead(200, PREFLIGHT).end();
      return;
    }
    const found = findRoute(this.endpoints, path);
    if (found && 'redirect' in found) {
      response.writeHead(301, { Location: `${path}/${mark < 0 ? '' : url.slice(mark)}`, 'Content-Length': '0', ...corsOf(message) }).end();
      return;
    }
    const route = found?.route;
    exchange.route = route;
    const { limits } = this.options;
    let reading: Promise<Body> | undefined;
    const read = (signedIn: boolean) =>
      (reading ??= readBody(message, response, signedIn ? { ...limits, sender: exchange.sender } : limitsOfStrangers(limits)));
    const query = queryOf(mark < 0 ? '' : url.slice(mark + 1));
    const afterwards: Request['afterwards'] = (work) => {
      const run = () => void work().catch(() => undefined);
      if (response.closed) run();
      else response.once('close', run);
    };
    const request: Request = { message, method, path, query, exchange, signedIn: false, body: () => read(request.signedIn), afterwards };
    const outgoing: Outgoing = { message, response, route, request, wanted: { format: 'json' } };
    await this.send(await settled(() => this.answer(outgoing, () => read(true))), outgoing);
  }

  /** Finds out what is wanted on the way: whatever is refused is told in that form. */
  private async answer(outgoing: Outgoing, bodyOfKnown: () => Promise<Body>): Promise<Answer> {
    const { route, request } = outgoing;
    const { accept } = request.message.headers;
    const { query } = request;
    if (!route) {
      const { format } = (outgoing.wanted = negotiateUnknown(accept));
      // A page tells who looks at it, even where there is nothing.
      if (format === 'api') request.signedIn = await request.exchange.authenticate().catch(() => false);
      throw notFound();
    }
    const asked = { accept, suffix: route.suffix, format: query.getAll('format').at(-1), indent: query.getAll('indent').at(-1) };
    const { format } = (outgoing.wanted = negotiate(asked));
    if (format === 'api') request.most = MAX_SHOWN;
    await this.authenticate(request, outgoing.wanted, bodyOfKnown);
    admit(route, request);
    if (request.method === 'HEAD') request.method = 'GET';
    if (format !== 'api') return this.once(route, request);
    await this.pages.understand(route, request);
    return SAFE.includes(request.method) ? this.options.inTurn(() => this.once(route, request)) : this.once(route, request);
  }

  /**
   * Who asks, and what the form of a page means by its POST; it is kept if its sender is refused, so that nothing typed is lost. `bodyOfKnown`
   * reads the body of a sender whose session is known already.
   */
  private async authenticate(request: Request, { format }: Wanted, bodyOfKnown: () => Promise<Body>): Promise<void> {
    const { message, exchange, body } = request;
    try {
      request.signedIn = await exchange.authenticate(() => csrfTokenOf(message, () => arrivedOf(bodyOfKnown())));
    } finally {
      if (format === 'api' && request.method === 'POST' && isForm(message, request.signedIn)) {
        const form = (request.form = formOf(await arrivedOf(body())));
        request.method = form.method;
        request.body = async () => {
          // A form too large is refused here, where its fields are known already.
          await body();
          if (form.refused) throw form.refused;
          return form.body;
        };
      }
    }
  }

  /** A change that was made before with the same Idempotency-Key is not made again. */
  private async once(route: Route, request: Request): Promise<Answer> {
    const { message, method, exchange } = request;
    const answer = () => this.answers.answer(route, request);
    if (message.headers['idempotency-key'] === undefined || SAFE.includes(method)) return answer();
    const attempt = await exchange.attempt?.((await request.body()).data);
    if (!attempt) return answer();
    if ('kept' in attempt) return attempt.kept;
    const { claim } = attempt;
    const result = await settled(answer).catch(async (error) => {
      await claim.release();
      throw error;
    });
    await claim.settle(result);
    return result;
  }

  private async send(result: Answer, outgoing: Outgoing): Promise<void> {
    const { message, response, route, request, wanted } = outgoing;
    const headers = headersOf(message, route, result.headers, request.exchange.headers());
    // It is the tag of this representation alone; in others there are other bytes.
    if (wanted.format !== 'json' || wanted.indent !== undefined) delete headers.ETag;
    // A browser stays where it is when it gets no content, so who deletes by a form gets a page that says so.
    // Whatever is wrong with the server, no page can be made that tells who looks at it.
    if (wanted.format === 'api' && result.status < 500 && (result.body !== undefined || request.form !== undefined))
      return this.sendPage(result, headers, outgoing);
    const text = result.body === undefined ? undefined : JSON.stringify(result.body, null, wanted.indent);
    if ((message.method === 'GET' || message.method === 'HEAD') && result.status === 200 && text !== undefined) {
      if (!headers.ETag && !headers['Cache-Control']) Object.assign(headers, ofEverybody(text));
      if (headers.ETag && isKnown(message.headers, headers.ETag)) return void response.writeHead(304, headers).end();
    }
    respond(message, response, result.status, headers, MEDIA.json, text);
  }

  private async sendPage(answer: Answer, headers: Record<string, string>, { message, response, route, request }: Outgoing): Promise<void> {
    const page = await this.options.inTurn(() => this.pageOf({ route, request, answer, headers }));
    if (page instanceof RestError)
      return respond(message, response, page.status, headersOf(message, route, page.headers), MEDIA.json, JSON.stringify(page.body));
    const status = answer.status === 204 ? 200 : answer.status;
    respond(message, response, status, { ...headers, ...page.headers }, `${MEDIA.api}; charset=utf-8`, page.text);
  }

  /** What a page shows beside the answer may be refused where the answer was not. */
  private async pageOf(shown: Shown): Promise<Page | RestError> {
    try {
      return await this.pages.show(shown);
    } catch (error) {
      if (error instanceof RestError) return error;
      throw error;
    }
  }
}
