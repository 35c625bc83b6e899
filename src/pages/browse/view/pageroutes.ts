/** Routes and paths of pages, and the resources that the API root lists. */
import type { ResourceEndpoint, Endpoints } from '../../../rest/endpoints';
import type { RenderInput } from '../../../rest/htmlrenderer';
import { API_BASE_PATH, findRoute, type Route } from '../../../rest/routes';
import { pluralLabelOf, singularLabelOf } from './labels';
import type { PageResource } from './viewmodel';

/** Whether links to rows lead to this endpoint: the first one of the endpoints that return the same rows. */
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

  /** Returns the name of the endpoint of a type, which is a segment of its path. */
  readonly endpointNameOf = (typeName: string): string | undefined =>
    this.endpointOf(typeName)?.view.restName;

  listedResources(): PageResource[] {
    return this.endpoints.apiRootResourceNames.flatMap((name) =>
      [this.endpoints.resources.get(name)!].filter(isDefaultEndpoint).map(pageResourceOf),
    );
  }

  /** Returns the route of the page that is shown: that of the request or, after a creation, that of the new row. */
  pageRouteOf(route: Route, { restResponse, request }: RenderInput): Route {
    if (route.kind !== 'list' || restResponse.status !== 201 || request.method !== 'POST')
      return route;
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

/** Returns the path of a row; undefined if there is no endpoint for rows of its type. */
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
