/** The pattern of an address, as metrics and traces have it: one for all rows, and one for all that is unknown. */
import type { IncomingMessage } from 'node:http';
import { BASE, type Route } from '../rest/routes';

const OTHER = 'other';
/** What is mounted as a whole. */
const MOUNTED = new Set(['graphql', 'media', 'playground', 'health', 'metrics']);

function ofRest(route: Route): string {
  switch (route.kind) {
    case 'root':
      return `${BASE}/`;
    case 'login':
      return `${BASE}/login/`;
    case 'free':
      return `${BASE}/${route.computed.fact.paths[0]}/`;
    case 'list':
      return `${BASE}/${route.endpoint.view.rest}/`;
    case 'detail':
      return `${BASE}/${route.endpoint.view.rest}/{id}/`;
    case 'action':
      return `${BASE}/${route.endpoint.view.rest}/{id}/${route.computed.fact.name}/`;
  }
}

/** `request` as express leaves it, which writes into it what it found. */
export function routeOf(request: IncomingMessage & { originalUrl?: string; route?: { path?: unknown } }, rest: Route | undefined): string {
  if (rest) return ofRest(rest);
  const [, first = ''] = (request.originalUrl ?? request.url ?? '').split(/[/?]/, 2);
  if (MOUNTED.has(first)) return `/${first}`;
  const path = request.route?.path;
  return typeof path === 'string' ? path : OTHER;
}
