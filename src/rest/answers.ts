/** What a route answers: its request as operations, their data as a body. */
import type { GraphQLSchema } from 'graphql';
import { run } from './asking';
import { computed } from './computed';
import { Descriptions } from './dialect/describing';
import { list } from './dialect/list';
import { lastOf } from './dialect/query';
import type { Endpoints } from './endpoints';
import { credentials, HINT } from './login';
import { tagged } from './preconditions';
import type { Answer, Request } from './request';
import { BASE, type Route } from './routes';
import { remove, write } from './writing';

export class Answers {
  private readonly descriptions: Descriptions;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly endpoints: Endpoints,
    private readonly timeZone: string,
  ) {
    this.descriptions = new Descriptions(endpoints);
  }

  async answer(route: Route, request: Request): Promise<Answer> {
    const { method } = request;
    if (method === 'OPTIONS') return this.descriptions.of(route, request);
    switch (route.kind) {
      case 'root':
        return { status: 200, body: this.root(request, route.suffix) };
      case 'login':
        return { status: 200, body: method === 'GET' ? HINT : await this.signIn(request) };
      case 'free':
        return computed(route.computed, request);
      case 'action':
        return computed(route.computed, request, route.id);
      case 'list':
        return method === 'POST' ? write(route.endpoint, request, this.timeZone) : list(route.endpoint, request, this.schema);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') return write(route.endpoint, request, this.timeZone, route.id);
        if (method === 'DELETE') return remove(route.endpoint, request, route.id);
        return tagged(route.endpoint, 200, (await run(route.endpoint.detail, request, { id: route.id })).row);
    }
  }

  private root({ exchange, query }: Request, suffix: string | undefined): Record<string, string> {
    const format = lastOf(query, 'format');
    const ending = suffix ? `.${suffix}` : `/${format ? `?format=${encodeURIComponent(format)}` : ''}`;
    return Object.fromEntries(this.endpoints.listed.map((name) => [name, `${exchange.baseUrl}${BASE}/${name}${ending}`]));
  }

  private async signIn(request: Request): Promise<unknown> {
    const { limits } = this.schema.getMutationType()!.getFields().login!.extensions;
    return (await run(this.endpoints.login, request, credentials(await request.body(), limits))).login;
  }
}
