/** What a route answers: its request as operations, their data as a body. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { ArgumentLimits } from '../contract/facts';
import { lookup, run } from './asking';
import { argumentsOf, computed, lacks } from './computed';
import { Descriptions } from './dialect/describing';
import type { Action, Endpoint, Endpoints, FreeEndpoint, Operation } from './endpoints';
import { invalid } from './errors';
import { filtersOf, orderByOf, unknownReferences, type Filtered } from './dialect/filters';
import { credentials, HINT } from './login';
import { page, windowOf } from './dialect/pagination';
import { tagged } from './preconditions';
import type { Answer, Request } from './request';
import { BASE, type Route } from './routes';
import { remove, write } from './writing';

export class Answers {
  private readonly descriptions: Descriptions;
  private readonly loginLimits?: ArgumentLimits;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly endpoints: Endpoints,
    private readonly login: Operation,
    private readonly timeZone: string,
  ) {
    this.descriptions = new Descriptions(endpoints);
    this.loginLimits = schema.getMutationType()?.getFields().login?.extensions.limits;
  }

  async answer(route: Route, request: Request): Promise<Answer> {
    const { method } = request;
    if (method === 'OPTIONS') return this.describe(route, request);
    switch (route.kind) {
      case 'root':
        return this.root(request, route.suffix);
      case 'login':
        return method === 'GET' ? { status: 200, body: HINT } : this.signIn(request);
      case 'free':
        return this.free(route.endpoint, request);
      case 'action':
        return this.action(route.action, route.id, request);
      case 'list':
        return method === 'POST' ? write(route.endpoint, request, this.timeZone) : this.list(route.endpoint, request);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') return write(route.endpoint, request, this.timeZone, route.id);
        if (method === 'DELETE') return remove(route.endpoint, request, route.id);
        return tagged(route.endpoint, 200, (await run(route.endpoint.detail, request, { id: route.id })).row);
    }
  }

  /** As OPTIONS does. */
  describe(route: Route, request: Request): Promise<Answer> {
    return this.descriptions.of(route, request);
  }

  private root({ exchange, query }: Request, suffix: string | undefined): Answer {
    const format = query.getAll('format').at(-1);
    const ending = suffix ? `.${suffix}` : `/${format ? `?format=${encodeURIComponent(format)}` : ''}`;
    const urls = this.endpoints.listed.map((name) => [name, `${exchange.baseUrl}${BASE}/${name}${ending}`]);
    return { status: 200, body: Object.fromEntries(urls) };
  }

  private async signIn(request: Request): Promise<Answer> {
    const variables = credentials(await request.body(), this.loginLimits);
    return { status: 200, body: (await run(this.login, request, variables)).login };
  }

  private async free({ fact, field, run: operation }: FreeEndpoint, request: Request): Promise<Answer> {
    const value = run(operation, request, argumentsOf(field, request.query)).then(({ result }) => result);
    return { status: 200, body: await computed(fact, value) };
  }

  private async action({ fact, field, run: operation }: Action, id: string, request: Request): Promise<Answer> {
    const given = argumentsOf(field, request.query);
    if (fact.whenMissing !== undefined && lacks(field, given)) return { status: 200, body: fact.whenMissing };
    const value = run(operation, request, { self: id, ...given }).then(({ row }) => row.action);
    return { status: 200, body: await computed(fact, value) };
  }

  private async list(endpoint: Endpoint, request: Request): Promise<Answer> {
    const { view, fields } = endpoint;
    const { query, exchange, path } = request;
    const window = windowOf(query, request.most);
    const filtered = filtersOf(view.filters, fields, query);
    // Of several ids one may name a row and another none.
    if (Object.keys(filtered.errors).length || Object.keys(filtered.listed).length) await this.refuse(endpoint, filtered, request);
    const variables = {
      where: filtered.where,
      orderBy: orderByOf(fields, query, (type) => this.defaultOrder(type)),
      first: window.limit,
      offset: window.offset,
    };
    const data = await run(endpoint.list, request, variables);
    // Where something names a row, there is that row.
    if (data.page.totalCount === 0) await this.refuse(endpoint, filtered, request);
    return { status: 200, body: page(exchange.baseUrl + path, query, window, data.page.totalCount, data.page.nodes) };
  }

  /** Throws what is wrong with the filters, of all parameters together. */
  private async refuse(endpoint: Endpoint, filtered: Filtered, request: Request): Promise<void> {
    const { view, fields } = endpoint;
    const ids: Record<string, string[]> = Object.fromEntries(Object.entries(filtered.references).map(([field, id]) => [field, [id]]));
    for (const field of Object.keys(filtered.listed)) ids[field] = (filtered.where[field] as { in: string[] }).in;
    const unknown = Object.keys(ids).length ? unknownReferences(view.filters, fields, filtered, await lookup(endpoint, request, ids)) : {};
    const all = { ...filtered.errors, ...unknown };
    if (Object.keys(all).length === 0) return;
    const order = view.filters.map(({ key, field }) => key ?? fields.find(({ name }) => name === field)!.rest);
    throw invalid(Object.fromEntries(order.filter((key) => all[key]).map((key) => [key, all[key]!])));
  }

  private defaultOrder(type: string): readonly string[] {
    return (this.schema.getType(type) as GraphQLObjectType | undefined)?.extensions.resource?.ordering ?? [];
  }
}
