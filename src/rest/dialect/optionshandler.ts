/** Responses to OPTIONS requests: metadata about a route in the format of Django REST framework. */
import { permitsMethod } from '../authorization';
import { queryReferenceableIds } from '../operations';
import { fragmentName, type ResourceEndpoint, type Endpoints } from '../endpoints';
import { LOGIN_TITLE } from './login';
import type { RestRequest } from '../request';
import type { Route } from '../routes';
import {
  requestFieldsMetadata,
  endpointMetadata,
  responseFieldsMetadata,
  actionTitle,
  type HttpOptionsMetadata,
} from './metadata';

type ResourceRoute = Extract<Route, { kind: 'list' | 'detail' }>;

export class OptionsHandler {
  private readonly fieldMetadataByEndpoint = new Map<
    ResourceEndpoint,
    { requestFields: HttpOptionsMetadata; responseFields: HttpOptionsMetadata }
  >();

  constructor({ resources }: Endpoints) {
    const selectionByFragmentName = new Map(
      [...resources].map(([name, { selection }]) => [fragmentName(name), selection]),
    );
    for (const endpoint of resources.values())
      this.fieldMetadataByEndpoint.set(endpoint, {
        requestFields: requestFieldsMetadata(endpoint),
        responseFields: responseFieldsMetadata(endpoint, selectionByFragmentName),
      });
  }

  async describeRoute(route: Route, request: RestRequest): Promise<HttpOptionsMetadata> {
    if (route.kind === 'root')
      return endpointMetadata(
        'Api Root',
        'The resources of the API, each with the URL of its list.',
      );
    if (route.kind === 'login')
      return endpointMetadata(LOGIN_TITLE, 'A token for a user name and a password.');
    if (route.kind === 'standalone')
      return endpointMetadata(
        route.graphqlFieldEndpoint.metadata.title,
        route.graphqlFieldEndpoint.field.description ?? '',
      );
    if (route.kind === 'action')
      return endpointMetadata(
        actionTitle(route.graphqlFieldEndpoint.metadata),
        route.graphqlFieldEndpoint.field.description ?? '',
      );
    const { endpoint } = route;
    const { requestFields, responseFields } = this.fieldMetadataByEndpoint.get(endpoint)!;
    const method = await this.permittedWriteMethod(route, request);
    return endpointMetadata(
      `${endpoint.view.title} ${route.kind === 'list' ? 'List' : 'Instance'}`,
      endpoint.view.description,
      method && { [method]: requestFields },
      responseFields,
    );
  }

  private async permittedWriteMethod(
    route: ResourceRoute,
    request: RestRequest,
  ): Promise<'POST' | 'PUT' | undefined> {
    const { create, update, resource } = route.endpoint;
    if (
      !request.isSignedIn ||
      (resource.scopeGroup &&
        request.context.authentication.missingScopeError(resource.scopeGroup, 'write'))
    )
      return undefined;
    if (route.kind === 'list') return create && permitsMethod(route, 'POST') ? 'POST' : undefined;
    if (!update || !permitsMethod(route, 'PUT')) return undefined;
    return (await queryReferenceableIds(route.endpoint, request, { self: [route.id] })).self!.length
      ? 'PUT'
      : undefined;
  }
}
