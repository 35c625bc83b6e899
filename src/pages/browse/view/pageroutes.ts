/** Routes and paths of pages, and the resources that the API root lists. */
import type { Endpoint, Endpoints } from '../../../rest/endpoints';
import type { RenderInput } from '../../../rest/htmlrenderer';
import { API_BASE_PATH, findRoute, type Route } from '../../../rest/routes';
import { pluralLabelOf, singularLabelOf } from './cells';
import type { PageResource } from './viewmodel';

/** Whether links to rows lead to this endpoint. If several endpoints return the same rows, links lead to the first of them. */
const isDefaultView = ({ view, resource }: Endpoint): boolean => view === resource.views[0];

export class PageRoutes {
  private readonly endpointByType: ReadonlyMap<string, Endpoint>;

  constructor(private readonly endpoints: Endpoints) {
    this.endpointByType = new Map(
      [...endpoints.resources.values()].filter(isDefaultView).map((endpoint) => [endpoint.type.name, endpoint]),
    );
  }

  endpointOf(type: string): Endpoint | undefined {
    return this.endpointByType.get(type);
  }

  /** Returns the name of the endpoint of a type, which is a segment of its path. */
  endpointNameOf(type: string): string | undefined {
    return this.endpointOf(type)?.view.rest;
  }

  listedResources(): PageResource[] {
    return this.endpoints.apiRootNames.flatMap((name) => [this.endpoints.resources.get(name)!].filter(isDefaultView).map(pageResourceOf));
  }

  /** Returns the route of the page that is shown: that of the request or, after a creation, that of the new row. */
  routeOfPage(route: Route, { answer, request }: RenderInput): Route {
    if (route.kind !== 'list' || answer.status !== 201 || request.method !== 'POST') return route;
    const createdRoute = findRoute(this.endpoints, detailPath(route.endpoint, (answer.body as { id: number }).id));
    return createdRoute && createdRoute !== 'redirect' ? createdRoute : route;
  }
}

export const pageResourceOf = ({ view, resource, type }: Endpoint): PageResource => ({
  name: view.rest,
  singular: singularLabelOf(type),
  plural: pluralLabelOf(type),
  description: view.description,
  owned: resource.owned,
});

export const listPath = ({ view }: Endpoint) => `${API_BASE_PATH}/${view.rest}/`;

export const detailPath = ({ view }: Endpoint, id: string | number) => `${API_BASE_PATH}/${view.rest}/${encodeURIComponent(id)}/`;

export function pagePathOf(pageRoute: Route, path: string): string {
  if (pageRoute.kind === 'root') return `${API_BASE_PATH}/`;
  if (pageRoute.kind === 'list') return listPath(pageRoute.endpoint);
  if (pageRoute.kind === 'detail') return detailPath(pageRoute.endpoint, pageRoute.id);
  if (pageRoute.kind === 'action') return `${detailPath(pageRoute.endpoint, pageRoute.id)}${pageRoute.computedEndpoint.metadata.name}/`;
  return path;
}
