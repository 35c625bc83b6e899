/** Route matching: maps a path below `/api/v2/` to a route and its allowed HTTP methods. */
import type { ActionMetadata, EndpointMetadata } from '../shared/metadata';
import { decodeUrlSegment } from '../shared/percent-encoding';
import { parseInteger } from './drf/python-scalars';
import { LOGIN_PATH } from './drf/login';
import type { GraphQLFieldEndpoint, ResourceEndpoint, Endpoints } from './endpoints';

export const API_BASE_PATH = '/api/v2';

/**
 * Safe HTTP methods (RFC 9110, section 9.2.1) that the API supports. Read-only routes have no
 * others.
 */
export const READ_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const LIST_METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS'];
const DETAIL_METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const LOGIN_METHODS = ['GET', 'POST', 'OPTIONS'];

export type Route = { formatSuffix?: string; allowedMethods: readonly string[] } & (
  | { kind: 'root'; endpoint?: undefined }
  | { kind: 'login'; endpoint?: undefined }
  | {
      kind: 'standalone';
      endpoint?: undefined;
      graphqlFieldEndpoint: GraphQLFieldEndpoint<EndpointMetadata>;
    }
  | { kind: 'list'; endpoint: ResourceEndpoint }
  | { kind: 'detail'; endpoint: ResourceEndpoint; id: string }
  | {
      kind: 'action';
      endpoint: ResourceEndpoint;
      id: string;
      graphqlFieldEndpoint: GraphQLFieldEndpoint<ActionMetadata>;
    }
);

const ROOT_PATH_PATTERN = /^(?:\.([a-z0-9]+)\/?)?$/;
const RESOURCE_PATH_PATTERN =
  /^([a-z0-9-]+)(?:\/([^/.]+)(?:\/([a-z_]+))?)?(?:\.([a-z0-9]+)\/?|(\/)?)$/;

/**
 * Id that matches no row. It replaces path segments that are not row numbers, some of which GraphQL
 * would accept as ids.
 */
const NONEXISTENT_ROW_ID = '0';

/** Normalizes a row id from a path, which may have surrounding blanks and leading zeros. */
const normalizeRowId = (text: string): string => {
  const number = parseInteger(decodeUrlSegment(text)) ?? -1;

  return Number.isSafeInteger(number) && number >= 0 ? String(number) : NONEXISTENT_ROW_ID;
};

/** Finds the route of a path. `redirect` means that only the trailing slash is missing. */
export function findRoute(
  { resources, standaloneEndpoints }: Endpoints,
  path: string,
): Route | 'redirect' | undefined {
  if (path === API_BASE_PATH) return 'redirect';
  if (!path.startsWith(`${API_BASE_PATH}/`)) return undefined;
  const relativePath = path.slice(API_BASE_PATH.length + 1);
  const rootMatch = ROOT_PATH_PATTERN.exec(relativePath);

  if (rootMatch) return { kind: 'root', formatSuffix: rootMatch[1], allowedMethods: READ_METHODS };

  const pathWithoutSlash = relativePath.endsWith('/') ? relativePath.slice(0, -1) : relativePath;
  const standaloneEndpoint = standaloneEndpoints.get(pathWithoutSlash);

  if (standaloneEndpoint || pathWithoutSlash === LOGIN_PATH) {
    if (pathWithoutSlash === relativePath) return 'redirect';

    if (standaloneEndpoint) {
      return {
        kind: 'standalone',
        graphqlFieldEndpoint: standaloneEndpoint,
        allowedMethods: READ_METHODS,
      };
    }

    return { kind: 'login', allowedMethods: LOGIN_METHODS };
  }

  const [, name = '', id, actionName, formatSuffix, slash] =
    RESOURCE_PATH_PATTERN.exec(relativePath) ?? [];
  const endpoint = resources.get(name);
  const action = actionName === undefined ? undefined : endpoint?.actions.get(actionName);

  if (!endpoint || (actionName !== undefined && !action)) return undefined;
  if (formatSuffix === undefined && !slash) return 'redirect';
  const isWritable = endpoint.view.routes === 'all';

  if (id === undefined) {
    return {
      kind: 'list',
      endpoint,
      formatSuffix,
      allowedMethods: isWritable ? LIST_METHODS : READ_METHODS,
    };
  }

  if (action) {
    return {
      kind: 'action',
      endpoint,
      id: normalizeRowId(id),
      graphqlFieldEndpoint: action,
      formatSuffix,
      allowedMethods: READ_METHODS,
    };
  }

  return {
    kind: 'detail',
    endpoint,
    id: normalizeRowId(id),
    formatSuffix,
    allowedMethods: isWritable ? DETAIL_METHODS : READ_METHODS,
  };
}
