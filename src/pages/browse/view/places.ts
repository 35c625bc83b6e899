/** Where pages are: the address of what they are about, and what people call it. */
import type { Endpoint, Endpoints } from '../../../rest/endpoints';
import type { Shown } from '../../../rest/page';
import { BASE, findRoute, type Route } from '../../../rest/routes';
import { plural, singular } from './cells';
import type { Resource } from './view';

/** Other views of the same rows are a matter of programs. */
const isUsual = ({ view, resource }: Endpoint): boolean => view === resource.views[0];

export class Places {
  private readonly byType: ReadonlyMap<string, Endpoint>;

  constructor(private readonly endpoints: Endpoints) {
    this.byType = new Map([...endpoints.resources.values()].filter(isUsual).map((endpoint) => [endpoint.type.name, endpoint]));
  }

  endpointOf(type: string): Endpoint | undefined {
    return this.byType.get(type);
  }

  /** In addresses. */
  nameOf(type: string): string | undefined {
    return this.endpointOf(type)?.view.rest;
  }

  listed(): Resource[] {
    return this.endpoints.listed.flatMap((name) => [this.endpoints.resources.get(name)!].filter(isUsual).map(resourceOf));
  }

  /** Where the page belongs: what was created has an address of its own. */
  placeOf(route: Route, { answer, request }: Shown): Route {
    if (route.kind !== 'list' || answer.status !== 201 || request.method !== 'POST') return route;
    const found = findRoute(this.endpoints, detailPath(route.endpoint, (answer.body as { id: number }).id));
    return found && found !== 'redirect' ? found : route;
  }
}

export const resourceOf = ({ view, resource, type }: Endpoint): Resource => ({
  name: view.rest,
  singular: singular(type),
  plural: plural(type),
  description: view.description,
  owned: resource.owned,
});

export const detailPath = ({ view }: Endpoint, id: string | number) => `${BASE}/${view.rest}/${encodeURIComponent(id)}/`;

export function pathOf(place: Route, path: string): string {
  if (place.kind === 'root') return `${BASE}/`;
  if (place.kind === 'list') return `${BASE}/${place.endpoint.view.rest}/`;
  if (place.kind === 'detail') return detailPath(place.endpoint, place.id);
  if (place.kind === 'action') return `${detailPath(place.endpoint, place.id)}${place.computed.fact.name}/`;
  return path;
}
