/** What a route answers: its request as operations, their data as a body. */
import type { GraphQLError, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { may } from './admission';
import { argumentsOf, computed, lacks } from './computed';
import { type Data, type Endpoint, type Endpoints, type Operation } from './endpoints';
import { invalid, notFound, notYours, ofFieldErrors, ofGraphQL, RestError } from './errors';
import { filtersOf, orderByOf, unknownReferences } from './dialect/filters';
import {
  inputOf,
  inspect,
  namedIds,
  namesForeignParent,
  notAnObject,
  objectOf,
  type Errors,
  type FieldError,
  type Known,
} from './dialect/input';
import { credentials, HINT, TITLE } from './login';
import { snake } from './names';
import { accepted, describe, shown, type Description } from './dialect/options';
import { page, windowOf } from './dialect/pagination';
import { failed, meantBy, NO_VERSION, tagOf } from './preconditions';
import type { Answer, Request } from './request';
import { BASE, type Route } from './routes';

export interface Answers {
  answer(route: Route, request: Request): Promise<Answer>;
  /** As OPTIONS does. */
  describeRoute(route: Route, request: Request): Promise<Answer>;
}

export function answersOf(schema: GraphQLSchema, endpoints: Endpoints, login: Operation, timeZone: string): Answers {
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
  ): Promise<Data> {
    request.ran = { operation, variables };
    const { data, errors } = await operation(request.exchange.context, variables);
    if (errors?.length) throw ofGraphQL(errors[0] as GraphQLError, rename);
    return data;
  }

  const loginLimits = schema.getMutationType()?.getFields().login?.extensions.limits;

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
    const window = windowOf(query, request.most);
    const filtered = filtersOf(view.filters, fields, query);
    const refuse = async () => {
      const ids: Record<string, string[]> = Object.fromEntries(Object.entries(filtered.references).map(([field, id]) => [field, [id]]));
      for (const field of Object.keys(filtered.listed)) ids[field] = (filtered.where[field] as { in: string[] }).in;
      const errors = Object.keys(ids).length ? unknownReferences(view.filters, fields, filtered, await lookup(endpoint, request, ids)) : {};
      const all = { ...filtered.errors, ...errors };
      if (Object.keys(all).length === 0) return;
      const order = view.filters.map(({ key, field }) => key ?? fields.find(({ name }) => name === field)!.rest);
      throw invalid(Object.fromEntries(order.filter((key) => all[key]).map((key) => [key, all[key]!])));
    };
    // Of several ids one may name a row and another none.
    if (Object.keys(filtered.errors).length || Object.keys(filtered.listed).length) await refuse();
    const variables = {
      where: filtered.where,
      orderBy: orderByOf(fields, query, defaultOrder),
      first: window.limit,
      offset: window.offset,
    };
    const data = await run(endpoint.list, request, variables);
    // Where something names a row, there is that row.
    if (data.page.totalCount === 0) await refuse();
    return { status: 200, body: page(exchange.baseUrl + path, query, window, data.page.totalCount, data.page.nodes) };
  }

  /** The version that the row must have, as a variable, if the request means one. A version never comes again, so of several the present one decides. */
  async function condition({ version, resource }: Endpoint, request: Request, id: string): Promise<{ ifVersion?: string }> {
    const meant = version && meantBy(request.message.headers);
    if (!meant) return {};
    if (meant.length < 2) return { ifVersion: meant[0] ?? NO_VERSION };
    const { row } = await run(version, request, { id });
    const present = row[resource.version!] as string;
    return { ifVersion: meant.includes(present) ? present : NO_VERSION };
  }

  /** A row as the answer, its version as the tag. */
  function tagged({ version, resource }: Endpoint, status: number, row: Record<string, unknown>): Answer {
    if (!version) return { status, body: row };
    const name = resource.version!;
    const headers = { ETag: tagOf(row[name] as string) };
    delete row[name];
    return { status, body: row, headers };
  }

  /**
   * POST, PUT and PATCH. The mutation alone decides. What it refuses, and what it cannot be asked for, is looked up and told in REST's words and
   * order: parents first (403), then the row (404), then all fields at once (400).
   */
  async function write(endpoint: Endpoint, request: Request, id?: string): Promise<Answer> {
    const { relations, fields } = endpoint;
    const reading = { partial: request.method === 'PATCH', creating: id === undefined, timeZone };
    const body = await request.body().catch(async (error) => {
      // Where a parent may be named the body is looked at before the row, elsewhere after it.
      if (!relations.some((field) => field.relation!.owned && !field.restReadOnly)) await demandRow(endpoint, request, id);
      throw error;
    });
    if (objectOf(body) === null) {
      await demandRow(endpoint, request, id);
      return notAnObject(body);
    }
    const rename = renaming(endpoint);
    /** All that is wrong with the values. `found` is what the mutation has said of them, if it was asked. */
    const mistakes = async (found?: readonly FieldError[]): Promise<Errors> => {
      const known = await lookup(endpoint, request, { ...namedIds(relations, body), ...(id !== undefined && { self: [id] }) });
      if (namesForeignParent(relations, body, known)) throw notYours();
      if (id !== undefined && known.self!.length === 0) throw notFound();
      const { input, errors } = inputOf(fields, body, reading, known);
      await inspect(fields, input, errors, found);
      return errors;
    };
    const refuse = (errors: Errors): void => {
      if (Object.keys(errors).length) throw invalid(errors);
    };
    const { input, errors } = inputOf(fields, body, reading);
    if (Object.keys(errors).length) refuse(await mistakes());
    const meant = id === undefined ? {} : await condition(endpoint, request, id);
    const operation = id === undefined ? endpoint.create! : endpoint.update!;
    const { answer } = await run(operation, request, { id, input, ...meant }, rename).catch(async (error) => {
      if (error instanceof RestError && error.status === 404) refuse(await mistakes());
      throw error;
    });
    if (answer.conflict) throw failed();
    const found = answer.fieldErrors as readonly FieldError[];
    if (found.length) {
      refuse(await mistakes(found));
      throw ofFieldErrors(found, rename);
    }
    return tagged(endpoint, id === undefined ? 201 : 200, answer.row);
  }

  async function demandRow(endpoint: Endpoint, request: Request, id: string | undefined): Promise<void> {
    if (id !== undefined && (await lookup(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
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
    const { view, create, update, resource } = endpoint;
    const writes = request.signedIn && !(resource.group && request.exchange.lacking?.(resource.group, 'write'));
    const described = descriptions.get(endpoint)!;
    let actions: Description | undefined;
    if (route.kind === 'list' && create && writes && may(route, 'POST')) actions = { POST: described.accepted };
    if (
      route.kind === 'detail' &&
      update &&
      writes &&
      may(route, 'PUT') &&
      (await lookup(endpoint, request, { self: [route.id] })).self!.length
    )
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
        return { status: 200, body: (await run(login, request, credentials(await request.body(), loginLimits))).login };
      case 'free': {
        const { fact, field, run: operation } = route.endpoint;
        const value = run(operation, request, argumentsOf(field, query)).then(({ result }) => result);
        return { status: 200, body: await computed(fact, value) };
      }
      case 'action': {
        const { fact, field, run: operation } = route.action;
        const given = argumentsOf(field, query);
        if (fact.whenMissing !== undefined && lacks(field, given)) return { status: 200, body: fact.whenMissing };
        const value = run(operation, request, { self: route.id, ...given }).then(({ row }) => row.action);
        return { status: 200, body: await computed(fact, value) };
      }
      case 'list':
        return method === 'POST' ? write(route.endpoint, request) : list(route.endpoint, request);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') return write(route.endpoint, request, route.id);
        if (method === 'DELETE') {
          const meant = await condition(route.endpoint, request, route.id);
          const { answer: removed } = await run(route.endpoint.remove!, request, { id: route.id, ...meant });
          if (removed.conflict) throw failed();
          return { status: 204 };
        }
        return tagged(route.endpoint, 200, (await run(route.endpoint.detail, request, { id: route.id })).row);
    }
  }

  return { answer, describeRoute };
}
