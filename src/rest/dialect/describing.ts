/** Responses to OPTIONS requests: metadata about a route in the format of Django REST framework. */
import { may } from '../admission';
import { lookup } from '../asking';
import { fragmentName, type Endpoint, type Endpoints } from '../endpoints';
import { TITLE } from './login';
import type { Answer, Request } from '../request';
import type { Route } from '../routes';
import { accepted, describe, shown, titleOf, type Description } from './options';

type ResourceRoute = Extract<Route, { kind: 'list' | 'detail' }>;

export class Descriptions {
  private readonly descriptions = new Map<Endpoint, { requestFields: Description; responseFields: Description }>();

  constructor({ resources }: Endpoints) {
    const selections = new Map([...resources].map(([name, { selection }]) => [fragmentName(name), selection]));
    for (const endpoint of resources.values())
      this.descriptions.set(endpoint, { requestFields: accepted(endpoint), responseFields: shown(endpoint, selections) });
  }

  async describe(route: Route, request: Request): Promise<Answer> {
    return { status: 200, body: await this.describeRoute(route, request) };
  }

  private async describeRoute(route: Route, request: Request): Promise<Description> {
    if (route.kind === 'root') return describe('Api Root', 'The resources of the API, each with the URL of its list.');
    if (route.kind === 'login') return describe(TITLE, 'A token for a user name and a password.');
    if (route.kind === 'free') return describe(route.computed.fact.title, route.computed.field.description ?? '');
    if (route.kind === 'action') return describe(titleOf(route.computed.fact), route.computed.field.description ?? '');
    const { endpoint } = route;
    const { requestFields, responseFields } = this.descriptions.get(endpoint)!;
    const method = await this.permittedWriteMethod(route, request);
    return describe(
      `${endpoint.view.title} ${route.kind === 'list' ? 'List' : 'Instance'}`,
      endpoint.view.description,
      method && { [method]: requestFields },
      responseFields,
    );
  }

  private async permittedWriteMethod(route: ResourceRoute, request: Request): Promise<'POST' | 'PUT' | undefined> {
    const { create, update, resource } = route.endpoint;
    if (!request.signedIn || (resource.group && request.exchange.lacking?.(resource.group, 'write'))) return undefined;
    if (route.kind === 'list') return create && may(route, 'POST') ? 'POST' : undefined;
    if (!update || !may(route, 'PUT')) return undefined;
    return (await lookup(route.endpoint, request, { self: [route.id] })).self!.length ? 'PUT' : undefined;
  }
}
