/** A path below `/api/v2/` → the route that it names, with the methods that the route advertises. */
import { integerOf } from '../platform/reading';
import type { Action, Endpoint, Endpoints, FreeEndpoint } from './endpoints';
import { PATH as LOGIN_PATH } from './login';

export const BASE = '/api/v2';
export const READ = ['GET', 'HEAD', 'OPTIONS'];
const LIST = ['GET', 'POST', 'HEAD', 'OPTIONS'];
const DETAIL = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const LOGIN = ['GET', 'POST', 'OPTIONS'];

export type Route = { suffix?: string; allow: readonly string[] } & (
  | { kind: 'root' }
  | { kind: 'login' }
  | { kind: 'free'; endpoint: FreeEndpoint }
  | { kind: 'list'; endpoint: Endpoint }
  | { kind: 'detail'; endpoint: Endpoint; id: string }
  | { kind: 'action'; endpoint: Endpoint; id: string; action: Action }
);

/** `redirect`: the route exists with a slash at the end. Undefined: there is no such path. */
export type Found = { route: Route } | { redirect: true } | undefined;

const GENERAL = /^([a-z0-9-]+)(?:\/([^/.]+)(?:\/([a-z_]+))?)?(?:\.([a-z0-9]+)\/?|(\/)?)$/;

/** Of anything that is no number: it names no row, whatever else GraphQL may know a row by. */
const NO_ROW = '0';

/** Ids may have blanks around them and leading zeros. */
const idOf = (text: string): string => {
  let id = text;
  try {
    id = decodeURIComponent(text);
  } catch {
    // Not percent-encoded after all; such an id names no row.
  }
  const number = integerOf(id);
  return Number.isSafeInteger(number) && number! >= 0 ? String(number) : NO_ROW;
};

export function findRoute({ resources, free }: Endpoints, path: string): Found {
  if (path === BASE) return { redirect: true };
  if (!path.startsWith(`${BASE}/`)) return undefined;
  const below = path.slice(BASE.length + 1);
  if (below === '') return { route: { kind: 'root', allow: READ } };
  const suffixOfRoot = /^\.([a-z0-9]+)\/?$/.exec(below)?.[1];
  if (suffixOfRoot) return { route: { kind: 'root', allow: READ, suffix: suffixOfRoot } };

  const bare = below.endsWith('/') ? below.slice(0, -1) : below;
  if (bare === LOGIN_PATH) return bare === below ? { redirect: true } : { route: { kind: 'login', allow: LOGIN } };
  const freeEndpoint = free.get(bare);
  if (freeEndpoint) return bare === below ? { redirect: true } : { route: { kind: 'free', endpoint: freeEndpoint, allow: READ } };

  const [, name, id, actionName, suffix, slash] = GENERAL.exec(below) ?? [];
  const endpoint = name === undefined ? undefined : resources.get(name);
  if (!endpoint) return undefined;
  const action = actionName === undefined ? undefined : endpoint.actions.get(actionName);
  if (actionName !== undefined && !action) return undefined;
  if (suffix === undefined && !slash) return { redirect: true };
  const all = endpoint.view.routes === 'all';
  const common = { endpoint, ...(suffix !== undefined && { suffix }) };
  if (id === undefined) return { route: { kind: 'list', allow: all ? LIST : READ, ...common } };
  if (!action) return { route: { kind: 'detail', id: idOf(id), allow: all ? DETAIL : READ, ...common } };
  return { route: { kind: 'action', id: idOf(id), action, allow: READ, ...common } };
}
