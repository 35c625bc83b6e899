/** Serves every resource of a GraphQL schema as REST. It knows GraphQL and HTTP, and nothing of any resource. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { arrivedOf, readBody, type Body } from './body';
import { admit, may, SAFE } from './admission';
import { viewsOf } from './browse';
import { csrfTokenOf } from './csrf';
import type { MultipartLimits } from '../multipart';
import { argumentsOf, computed } from './computed';
import { endpointsOf, prepareOperation, type Endpoint, type Operation, type Prepare } from './endpoints';
import { notFound, notYours, ofFieldErrors, ofGraphQL, RestError, invalid } from './errors';
import { filtersOf, orderByOf, unknownReferences } from './filters';
import { formOf, isForm, type PostedForm } from './forms';
import { inputOf, inspect, namedIds, namesForeignParent, notAnObject, objectOf, type Known } from './input';
import { credentials, DOCUMENT, HINT, TITLE } from './login';
import { snake } from './names';
import { MEDIA, negotiate, type Wanted } from './negotiate';
import { accepted, describe, shown, type Description } from './options';
import { page, windowOf } from './pagination';
import { headersOf, PREFLIGHT, respond } from './respond';
import { BASE, findRoute, type Route } from './routes';
import type { HtmlView, Page } from './view';

/** One request, as the application sees it. */
export interface Exchange {
  /** For the operations. */
  context: never;
  /** Scheme and host of the links. */
  baseUrl: string;
  /** Whether somebody is signed in; throws a GraphQLError for a bad token. `formToken` reads the CSRF token of a form, where one is needed. */
  authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean>;
  /** Who looks at a page; undefined means nobody. */
  visitor?(): { username?: string; csrfToken?: string };
  /** The answer that was given to this very request before, or the claim to give one; undefined if nothing is to be kept. */
  attempt?(body: unknown): Promise<Attempt | undefined>;
  /** Headers of the answer that are about the work done. */
  headers(): Record<string, string>;
}

type Attempt = { kept: Answer } | { claim: { settle(answer: Answer): Promise<void>; release(): Promise<void> } };

export interface RestOptions {
  schema: GraphQLSchema;
  prepare: Prepare;
  open(request: IncomingMessage): Exchange;
  /** What a browser is shown instead of bare JSON. */
  html(view: HtmlView): Promise<Page>;
  limits: MultipartLimits;
  timeZone: string;
}

export interface Request {
  message: IncomingMessage;
  method: string;
  path: string;
  query: URLSearchParams;
  exchange: Exchange;
  signedIn: boolean;
  /** Read when it is first asked for. */
  body(): Promise<Body>;
  /** What a form of a page sent. */
  form?: PostedForm;
  /** The last operation, for pages to tell of. */
  ran?: { operation: Operation; variables: Record<string, unknown> };
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function restHandler(options: RestOptions): Handler {
  const { schema, prepare, limits, timeZone } = options;
  const endpoints = endpointsOf(schema, prepare);
  const login = prepareOperation(prepare, DOCUMENT);
  const selections = new Map([...endpoints.resources].map(([name, { selection }]) => [name.replaceAll('-', '_'), selection]));
  const descriptions = new Map<Endpoint, { accepted: Description; shown: Description }>();
  for (const endpoint of endpoints.resources.values())
    descriptions.set(endpoint, { accepted: accepted(endpoint), shown: shown(endpoint, selections) });

  /** The data of an operation, or its first error as REST says it. */
  async function run(
    operation: Operation,
    request: Request,
    variables: Record<string, unknown>,
    rename: (field: string) => string = snake,
  ): Promise<any> {
    request.ran = { operation, variables };
    const { data, errors } = await operation(request.exchange.context, variables);
    if (errors?.length) throw ofGraphQL(errors[0] as GraphQLError, rename);
    return data;
  }

  const defaultOrder = (type: string) => (schema.getType(type) as GraphQLObjectType | undefined)?.extensions.resource?.ordering ?? [];

  const renaming =
    ({ fields }: Endpoint) =>
    (name: string) =>
      fields.find((field) => field.name === name)?.rest ?? snake(name);

  function lookup({ known, relations }: Endpoint, request: Request, ids: Record<string, string[]>): Promise<Known> {
    return run(known, request, { self: [], ...Object.fromEntries(relations.map((field) => [field.name, []])), ...ids });
  }

  async function list(endpoint: Endpoint, request: Request): Promise<Answer> {
    const { view, fields } = endpoint;
    const { query, exchange, path } = request;
    const window = windowOf(query);
    const filtered = filtersOf(view.filters, fields, query);
    const ids: Record<string, string[]> = Object.fromEntries(Object.entries(filtered.references).map(([field, id]) => [field, [id]]));
    for (const { field, parse } of view.filters)
      if (parse === 'ids' && filtered.where[field]) ids[field] = (filtered.where[field] as { in: string[] }).in;
    const errors = Object.keys(ids).length ? unknownReferences(view.filters, fields, filtered, await lookup(endpoint, request, ids)) : {};
    const all = { ...filtered.errors, ...errors };
    if (Object.keys(all).length) {
      const order = view.filters.map(({ key, field }) => key ?? fields.find(({ name }) => name === field)!.rest);
      throw invalid(Object.fromEntries(order.filter((key) => all[key]).map((key) => [key, all[key]!])));
    }
    const variables = {
      where: filtered.where,
      orderBy: orderByOf(fields, query, defaultOrder),
      first: window.limit,
      offset: window.offset,
    };
    const data = await run(endpoint.list, request, variables);
    return { status: 200, body: page(exchange.baseUrl + path, query, window, data.page.totalCount, data.page.nodes) };
  }

  /** POST, PUT and PATCH: parents first (403), then the row (404), then all fields at once (400), then the mutation. */
  async function write(endpoint: Endpoint, request: Request, id?: string): Promise<Answer> {
    const { relations, fields } = endpoint;
    const partial = request.method === 'PATCH';
    const parents = relations.some((field) => field.relation!.owned && !field.restReadOnly);
    const exists = async () => {
      if (id !== undefined && (await lookup(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
    };
    // Where a parent may be named the body is looked at before the row, elsewhere after it.
    if (!parents) await exists();
    const body = await request.body();
    const isObject = objectOf(body) !== null;
    const known = isObject
      ? await lookup(endpoint, request, { ...namedIds(relations, body), ...(id !== undefined && { self: [id] }) })
      : undefined;
    if (known && namesForeignParent(relations, body, known)) throw notYours();
    if (parents && !known) await exists();
    if (known && id !== undefined && known.self!.length === 0) throw notFound();
    if (!known) return notAnObject(body);
    const { input, errors } = inputOf(fields, body, known, { partial, creating: id === undefined, timeZone });
    await inspect(fields, input, errors);
    if (Object.keys(errors).length) throw invalid(errors);
    const operation = id === undefined ? endpoint.create! : endpoint.update!;
    const rename = renaming(endpoint);
    const { answer } = await run(operation, request, { id, input }, rename);
    if (answer.fieldErrors.length) throw ofFieldErrors(answer.fieldErrors, rename);
    return { status: id === undefined ? 201 : 200, body: answer.row };
  }

  async function describeRoute(route: Route, request: Request): Promise<Answer> {
    if (route.kind === 'root')
      return { status: 200, body: describe('Api Root', 'The resources of the API, each with the URL of its list.') };
    if (route.kind === 'login') return { status: 200, body: describe(TITLE, 'A token for a user name and a password.') };
    if (route.kind === 'free') return { status: 200, body: describe(route.endpoint.fact.title, route.endpoint.field.description ?? '') };
    const { endpoint } = route;
    if (route.kind === 'action') {
      const words = route.action.fact.title ?? route.action.fact.name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
      return { status: 200, body: describe(words, route.action.field.description ?? '') };
    }
    const { view, create, update } = endpoint;
    const described = descriptions.get(endpoint)!;
    let actions: Description | undefined;
    if (route.kind === 'list' && create && request.signedIn && may(route, 'POST')) actions = { POST: described.accepted };
    if (
      route.kind === 'detail' &&
      update &&
      request.signedIn &&
      may(route, 'PUT') &&
      (await lookup(endpoint, request, { self: [route.id] })).self!.length
    )
      actions = { PUT: described.accepted };
    const name = `${view.title} ${route.kind === 'list' ? 'List' : 'Instance'}`;
    return { status: 200, body: describe(name, view.description, actions, described.shown) };
  }

  const viewOf = viewsOf({ schema, endpoints, login, describe: describeRoute });

  function root({ exchange, query }: Request, suffix: string | undefined): Answer {
    const format = query.getAll('format').at(-1);
    const ending = suffix ? `.${suffix}` : `/${format ? `?format=${encodeURIComponent(format)}` : ''}`;
    return { status: 200, body: Object.fromEntries(endpoints.listed.map((name) => [name, `${exchange.baseUrl}${BASE}/${name}${ending}`])) };
  }

  async function answer(route: Route, request: Request): Promise<Answer> {
    const { method, query } = request;
    if (method === 'OPTIONS') return describeRoute(route, request);
    switch (route.kind) {
      case 'root':
        return root(request, route.suffix);
      case 'login':
        if (method === 'GET') return { status: 200, body: HINT };
        return { status: 200, body: (await run(login, request, credentials(await request.body()))).login };
      case 'free': {
        const { fact, field, run: operation } = route.endpoint;
        const value = run(operation, request, argumentsOf(field, query)).then(({ result }) => result);
        return { status: 200, body: await computed(fact, value) };
      }
      case 'action': {
        const { fact, field, run: operation } = route.action;
        const value = run(operation, request, { self: route.id, ...argumentsOf(field, query) }).then(({ row }) => row.action);
        return { status: 200, body: await computed(fact, value) };
      }
      case 'list':
        return method === 'POST' ? write(route.endpoint, request) : list(route.endpoint, request);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') return write(route.endpoint, request, route.id);
        if (method === 'DELETE') {
          await run(route.endpoint.remove!, request, { id: route.id });
          return { status: 204 };
        }
        return { status: 200, body: (await run(route.endpoint.detail, request, { id: route.id })).row };
    }
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

  /** Who asks, and what the form of a page means by its POST; it is kept if its sender is refused, so that nothing typed is lost. */
  async function authenticate(request: Request, { format }: Wanted): Promise<void> {
    const { message, exchange, body } = request;
    try {
      request.signedIn = await exchange.authenticate(() => csrfTokenOf(message, () => arrivedOf(body())));
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

  return async (message, response) => {
    const url = message.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    const exchange = options.open(message);
    const method = message.method ?? 'GET';

    if (method === 'OPTIONS' && message.headers['access-control-request-method'] !== undefined) {
      response.writeHead(200, PREFLIGHT).end();
      return;
    }
    const found = findRoute(endpoints, path);
    if (found && 'redirect' in found) {
      response.writeHead(301, { Location: `${path}/${mark < 0 ? '' : url.slice(mark)}`, 'Content-Length': '0' }).end();
      return;
    }
    const route = found?.route;
    let read: Promise<Body> | undefined;
    const body = () => (read ??= readBody(message, limits));
    const request: Request = { message, method, path, query, exchange, signedIn: false, body };
    let wanted: Wanted = { format: 'json' };
    const result = await settled(async () => {
      wanted = negotiate({ accept: message.headers.accept, suffix: route?.suffix, format: query.getAll('format').at(-1) });
      if (!route) {
        // A page tells who looks at it, even where there is nothing.
        if (wanted.format === 'api') request.signedIn = await exchange.authenticate().catch(() => false);
        throw notFound();
      }
      await authenticate(request, wanted);
      admit(route, request);
      if (method === 'HEAD') request.method = 'GET';
      return once(route, request);
    });
    const headers = headersOf(message, route, result.headers, exchange.headers());
    // A browser stays where it is when it gets no content, so who deletes by a form gets a page that says so.
    if (wanted.format === 'api' && (result.body !== undefined || request.form !== undefined)) {
      const page = await options.html(await viewOf({ route, request, answer: result, headers }));
      const status = result.status === 204 ? 200 : result.status;
      respond(message, response, status, { ...headers, ...page.headers }, `${MEDIA.api}; charset=utf-8`, page.text);
    } else {
      const text = result.body === undefined ? undefined : JSON.stringify(result.body, null, wanted.indent);
      respond(message, response, result.status, headers, MEDIA.json, text);
    }
    // What was not read of the body must not be taken for the next request on the connection.
    if (!message.complete) message.resume();
  };
}
