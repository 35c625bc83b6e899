/** Routes and paths of pages, and the resources that the API root lists. */
import type { ResourceEndpoint, Endpoints } from '../../../rest/endpoints';
import type { RenderInput } from '../../../rest/request';
import { API_BASE_PATH, findRoute, type Route } from '../../../rest/routes';
import { pluralLabelOf, singularLabelOf } from './labels';
import type { PageResource } from './view-model';

/** Whether links to rows lead to this endpoint. Several endpoints may return the same rows. */
const isDefaultEndpoint = ({ view, resource }: ResourceEndpoint): boolean =>
  view === resource.views[0];

export class PageRoutes {
  private readonly endpointByType: ReadonlyMap<string, ResourceEndpoint>;

  constructor(private readonly endpoints: Endpoints) {
    this.endpointByType = new Map(
      [...endpoints.resources.values()]
        .filter(isDefaultEndpoint)
        .map((endpoint) => [endpoint.type.name, endpoint]),
    );
  }

  endpointOf(typeName: string): ResourceEndpoint | undefined {
    return this.endpointByType.get(typeName);
  }

  /** REST endpoint of a GraphQL type, as a path segment. */
  readonly endpointNameOf = (typeName: string): string | undefined =>
    this.endpointOf(typeName)?.view.restName;

  listedResources(): PageResource[] {
    return this.endpoints.apiRootResourceNames.flatMap((name) =>
      [this.endpoints.resources.get(name)!].filter(isDefaultEndpoint).map(pageResourceOf),
    );
  }

  /** Route of the page to show: the new row after it was created, otherwise that of the request. */
  pageRouteOf(route: Route, { restResponse, request }: RenderInput): Route {
    if (route.kind !== 'list' || restResponse.status !== 201 || request.method !== 'POST') {
      return route;
    }

    const createdRowRoute = findRoute(
      this.endpoints,
      detailPath(route.endpoint.view.restName, (restResponse.body as { id: number }).id),
    );

    return createdRowRoute && createdRowRoute !== 'redirect' ? createdRowRoute : route;
  }
}

export const pageResourceOf = ({ view, resource, type }: ResourceEndpoint): PageResource => ({
  name: view.restName,
  singularLabel: singularLabelOf(type),
  pluralLabel: pluralLabelOf(type),
  description: view.description,
  isOwned: resource.isOwned,
});

export const API_ROOT_PATH = `${API_BASE_PATH}/`;

export const listPath = (endpointName: string) => `${API_ROOT_PATH}${endpointName}/`;

export const detailPath = (endpointName: string, id: string | number) =>
  `${listPath(endpointName)}${encodeURIComponent(id)}/`;

/** Path of the page of a row, if its type has an endpoint. */
export const rowPathOf = (endpointName: string | undefined, id: string | number) =>
  endpointName === undefined ? undefined : detailPath(endpointName, id);

export function pagePathOf(pageRoute: Route, path: string): string {
  if (pageRoute.kind === 'root') return API_ROOT_PATH;
  if (!pageRoute.endpoint) return path;
  const endpointName = pageRoute.endpoint.view.restName;

  if (pageRoute.kind === 'list') return listPath(endpointName);
  if (pageRoute.kind === 'detail') return detailPath(endpointName, pageRoute.id);

  return `${detailPath(endpointName, pageRoute.id)}${pageRoute.graphqlFieldEndpoint.metadata.name}/`;
}
