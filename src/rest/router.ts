/** Serves every resource of a GraphQL schema as REST. It knows GraphQL and HTTP, and nothing of any resource. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { arrivedOf, queryOf, readBody, type Body } from './dialect/body';
import { admit, SAFE } from './admission';
import { answersOf } from './answers';
import { csrfTokenOf } from './dialect/csrf';
import { limitsOfStrangers, type MultipartLimits } from '../platform/multipart';
import { endpointsOf, prepareOperation, type Prepare } from './endpoints';
import { notFound, ofGraphQL, RestError } from './errors';
import { formOf, isForm } from './dialect/forms';
import { DOCUMENT } from './login';
import { snake } from './names';
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
  const { schema, publicSchema, prepare, limits, timeZone } = options;
  const endpoints = endpointsOf(schema, prepare);
  const login = prepareOperation(prepare, DOCUMENT);
  const { answer, describeRoute } = answersOf(schema, endpoints, login, timeZone);
  const pages = options.pages({ schema, publicSchema, endpoints, login, prepare, describe: describeRoute });

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

  /** A change that was made before with the same Idempotency-Key is not made again. */
  async function once(route: Route, request: Request): Promise<Answer> {
    const { message, method, exchange } = request;
    if (message.headers['idempotency-key'] === undefined || SAFE.includes(method)) return answer(route, request);
    const attempt = await exchange.attempt?.((await request.body()).data);
    if (!attempt) return answer(route, request);
    if ('kept' in attempt) return attempt.kept;
    const { claim } = attempt;
    const result = await settled(() => answer(route, request)).catch(async (error) => {
      await claim.release();
      throw error;
    });
    await claim.settle(result);
    return result;
  }

  /**
   * Who asks, and what the form of a page means by its POST; it is kept if its sender is refused, so that nothing typed is lost. `bodyOfKnown`
   * reads the body of a sender whose session is known already.
   */
  async function authenticate(request: Request, { format }: Wanted, bodyOfKnown: () => Promise<Body>): Promise<void> {
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

  /** What a page shows beside the answer may be refused where the answer was not. */
  const pageOf = async (shown: Shown): Promise<Page | RestError> => {
    try {
      return await pages.show(shown);
    } catch (error) {
      if (error instanceof RestError) return error;
      throw error;
    }
  };

  return async (message, response) => {
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = queryOf(mark < 0 ? '' : url.slice(mark + 1));
    const exchange = options.open(message);
    const method = message.method ?? 'GET';

    if (method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined) {
      response.writeHead(200, PREFLIGHT).end();
      return;
    }
    const found = findRoute(endpoints, path);
    if (found && 'redirect' in found) {
      response.writeHead(301, { Location: `${path}/${mark < 0 ? '' : url.slice(mark)}`, 'Content-Length': '0', ...corsOf(message) }).end();
      return;
    }
    const route = found?.route;
    exchange.route = route;
    let reading: Promise<Body> | undefined;
    const read = (signedIn: boolean) =>
      (reading ??= readBody(message, response, signedIn ? { ...limits, sender: exchange.sender } : limitsOfStrangers(limits)));
    const request: Request = { message, method, path, query, exchange, signedIn: false, body: () => read(request.signedIn) };
    let wanted: Wanted = { format: 'json' };
    const result = await settled(async () => {
      const { accept } = message.headers;
      if (!route) {
        wanted = negotiateUnknown(accept);
        // A page tells who looks at it, even where there is nothing.
        if (wanted.format === 'api') request.signedIn = await exchange.authenticate().catch(() => false);
        throw notFound();
      }
      wanted = negotiate({ accept, suffix: route.suffix, format: query.getAll('format').at(-1), indent: query.getAll('indent').at(-1) });
      if (wanted.format === 'api') request.most = MAX_SHOWN;
      await authenticate(request, wanted, () => read(true));
      admit(route, request);
      if (method === 'HEAD') request.method = 'GET';
      if (wanted.format === 'api') await pages.understand(route, request);
      return wanted.format === 'api' && SAFE.includes(request.method) ? options.inTurn(() => once(route, request)) : once(route, request);
    });
    const headers = headersOf(message, route, result.headers, exchange.headers());
    // It is the tag of this representation alone; in others there are other bytes.
    if (wanted.format !== 'json' || wanted.indent !== undefined) delete headers.ETag;
    // A browser stays where it is when it gets no content, so who deletes by a form gets a page that says so.
    // Whatever is wrong with the server, no page can be made that tells who looks at it.
    if (wanted.format === 'api' && result.status < 500 && (result.body !== undefined || request.form !== undefined)) {
      const page = await options.inTurn(() => pageOf({ route, request, answer: result, headers }));
      if (page instanceof RestError)
        respond(message, response, page.status, headersOf(message, route, page.headers), MEDIA.json, JSON.stringify(page.body));
      else {
        const status = result.status === 204 ? 200 : result.status;
        respond(message, response, status, { ...headers, ...page.headers }, `${MEDIA.api}; charset=utf-8`, page.text);
      }
      return;
    }
    const text = result.body === undefined ? undefined : JSON.stringify(result.body, null, wanted.indent);
    if ((method === 'GET' || method === 'HEAD') && result.status === 200 && text !== undefined) {
      if (!headers.ETag && !headers['Cache-Control']) Object.assign(headers, ofEverybody(text));
      if (headers.ETag && isKnown(message.headers, headers.ETag)) return void response.writeHead(304, headers).end();
    }
    respond(message, response, result.status, headers, MEDIA.json, text);
  };
}
