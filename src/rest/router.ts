/** Serves every resource of a GraphQL schema as REST. It knows GraphQL and HTTP, and nothing of any resource. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, type GraphQLObjectType, type GraphQLSchema } from 'graphql';
import { readBody, type Body } from './body';
import { csrfTokenOf } from './csrf';
import type { MultipartLimits } from '../multipart';
import { argumentsOf, computed } from './computed';
import { endpointsOf, type Endpoint, type Operation, type Prepare } from './endpoints';
import { notAllowed, notFound, notPermitted, notSignedIn, notYours, ofGraphQL, RestError, invalid } from './errors';
import { filtersOf, orderByOf, unknownReferences } from './filters';
import { inputOf, inspect, namedIds, namesForeignParent, notAnObject, objectOf, type Known } from './input';
import { credentials, DOCUMENT, HINT, TITLE } from './login';
import { snake } from './names';
import { MEDIA, negotiate, type Wanted } from './negotiate';
import { accepted, describe, shown, type Description } from './options';
import { page, windowOf } from './pagination';
import { BASE, findRoute, titleOf, type Route } from './routes';

/** One request, as the application sees it. */
export interface Exchange {
  /** For the operations. */
  context: never;
  /** Scheme and host of the links. */
  baseUrl: string;
  /** Whether somebody is signed in; throws a GraphQLError for a bad token. `formToken` reads the CSRF token of a form, where one is needed. */
  authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean>;
  visitor?(): { username?: string; csrfToken?: string };
  /** Headers of the answer that are about the work done. */
  headers(): Record<string, string>;
}

/** What a browser is shown instead of bare JSON. */
export interface HtmlView {
  title: string;
  status: number;
  body: unknown;
  allow: readonly string[];
}

export interface RestOptions {
  schema: GraphQLSchema;
  prepare: Prepare;
  open(request: IncomingMessage): Exchange;
  html(view: HtmlView): string;
  limits: MultipartLimits;
  timeZone: string;
}

interface Request {
  message: IncomingMessage;
  method: string;
  path: string;
  query: URLSearchParams;
  exchange: Exchange;
  signedIn: boolean;
  /** Read when it is first asked for. */
  body(): Promise<Body>;
}

interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const VARY = 'Accept, Accept-Language, Cookie, Origin';
const SAFE = ['GET', 'HEAD', 'OPTIONS'];
const PREFLIGHT = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'accept, accept-encoding, authorization, content-type, dnt, origin, user-agent, x-csrftoken, x-requested-with',
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Max-Age': '86400',
  'Content-Length': '0',
};

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function restHandler(options: RestOptions): Handler {
  const { schema, prepare, limits, timeZone } = options;
  const endpoints = endpointsOf(schema, prepare);
  const login = prepare(DOCUMENT);
  const selections = new Map([...endpoints.resources].map(([name, { selection }]) => [name.replaceAll('-', '_'), selection]));
  const descriptions = new Map<Endpoint, { accepted: Description; shown: Description }>();
  for (const endpoint of endpoints.resources.values())
    descriptions.set(endpoint, { accepted: accepted(endpoint), shown: shown(endpoint, selections) });

  /** The data of an operation, or its first error as REST says it. */
  async function run(
    operation: Operation,
    { exchange }: Request,
    variables: Record<string, unknown>,
    rename: (field: string) => string = snake,
  ): Promise<any> {
    const { data, errors } = await operation(exchange.context, variables);
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
    const { row } = await run(operation, request, { id, input }, renaming(endpoint));
    return { status: id === undefined ? 201 : 200, body: row };
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
    const may = (method: string) => route.allow.includes(method) && (view.permits?.includes(method) ?? true) && request.signedIn;
    let actions: Description | undefined;
    if (route.kind === 'list' && create && may('POST')) actions = { POST: described.accepted };
    if (route.kind === 'detail' && update && may('PUT') && (await lookup(endpoint, request, { self: [route.id] })).self!.length)
      actions = { PUT: described.accepted };
    const name = `${view.title} ${route.kind === 'list' ? 'List' : 'Instance'}`;
    return { status: 200, body: describe(name, view.description, actions, described.shown) };
  }

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

  /** Who may call a route at all, and with which methods. */
  function admit(route: Route, { method, signedIn }: Request): void {
    if ('endpoint' in route && route.kind !== 'free') {
      const { view, resource } = route.endpoint;
      if (resource.owned && !signedIn) throw notSignedIn();
      if (view.permits && !SAFE.includes(method)) {
        if (!signedIn) throw notSignedIn();
        if (!view.permits.includes(method)) throw notPermitted();
      }
    }
    if (!route.allow.includes(method)) throw notAllowed(method);
  }

  function send(
    response: ServerResponse,
    message: IncomingMessage,
    route: Route | undefined,
    wanted: Wanted,
    answer: Answer,
    exchange: Exchange,
  ): void {
    const headers: Record<string, string> = {
      Vary: route?.kind === 'root' ? 'Accept' : VARY,
      'Content-Language': 'en',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      ...(route && { Allow: route.allow.join(', ') }),
      ...(message.headers.origin !== undefined && { 'Access-Control-Allow-Origin': '*' }),
      ...answer.headers,
      ...exchange.headers(),
    };
    if (answer.body === undefined) {
      response.writeHead(answer.status, { ...headers, 'Content-Length': '0' }).end();
      return;
    }
    const html = wanted.format === 'api';
    const text = html
      ? options.html({ title: route ? titleOf(route) : 'Not found', status: answer.status, body: answer.body, allow: route?.allow ?? [] })
      : JSON.stringify(answer.body, null, wanted.indent);
    const type = html ? `${MEDIA.api}; charset=utf-8` : MEDIA.json;
    response.writeHead(answer.status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text), ...headers });
    response.end(message.method === 'HEAD' ? undefined : text);
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
    let wanted: Wanted = { format: 'json' };
    let result: Answer;
    try {
      wanted = negotiate({ accept: message.headers.accept, suffix: route?.suffix, format: query.getAll('format').at(-1) });
      if (!route) throw notFound();
      let read: Promise<Body> | undefined;
      const body = () => (read ??= readBody(message, limits));
      const signedIn = await exchange.authenticate(() => csrfTokenOf(message, body));
      const request: Request = { message, method, path, query, exchange, signedIn, body };
      admit(route, request);
      result = await answer(route, method === 'HEAD' ? { ...request, method: 'GET' } : request);
    } catch (error) {
      if (error instanceof RestError) result = error;
      else if (error instanceof GraphQLError) result = ofGraphQL(error, snake);
      else throw error;
    }
    send(response, message, route, wanted, result, exchange);
    // What was not read of the body must not be taken for the next request on the connection.
    if (!message.complete) message.resume();
  };
}
