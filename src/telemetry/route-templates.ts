/**
 * Route templates such as `/api/v2/workout/{id}/` for metrics and traces, which need a limited
 * number of values. Unknown paths share one template.
 */
import type { IncomingMessage } from 'node:http';
import { API_BASE_PATH, type Route } from '../rest/routes';

const OTHER_ROUTE = 'other';

/** First path segments, such as `media`, below which all paths share one route template. */
const SINGLE_ROUTE_PREFIXES = new Set([
  'docs',
  'graphql',
  'health',
  'healthz',
  'media',
  'metrics',
  'playground',
]);

function restRouteTemplate(route: Route): string {
  switch (route.kind) {
    case 'root':
      return `${API_BASE_PATH}/`;
    case 'login':
      return `${API_BASE_PATH}/login/`;
    case 'standalone':
      return `${API_BASE_PATH}/${route.graphqlFieldEndpoint.metadata.paths[0]}/`;
    case 'list':
      return `${API_BASE_PATH}/${route.endpoint.view.restName}/`;
    case 'detail':
      return `${API_BASE_PATH}/${route.endpoint.view.restName}/{id}/`;
    case 'action':
      return `${API_BASE_PATH}/${route.endpoint.view.restName}/{id}/${route.graphqlFieldEndpoint.metadata.name}/`;
  }
}

/**
 * Derives the route template of a request. Express sets `originalUrl` and `route` when it matches a
 * route.
 */
export function routeTemplate(
  request: Pick<IncomingMessage, 'url'> & { originalUrl?: string; route?: { path?: unknown } },
  restRoute: Route | undefined,
): string {
  if (restRoute) return restRouteTemplate(restRoute);
  const [, firstSegment = ''] = (request.originalUrl ?? request.url ?? '').split(/[/?]/, 2);

  if (SINGLE_ROUTE_PREFIXES.has(firstSegment)) return `/${firstSegment}`;
  const path = request.route?.path;

  return typeof path === 'string' ? path : OTHER_ROUTE;
}
