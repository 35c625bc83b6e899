/** A path below `/api/v2/` → the route that it names, with the methods that the route advertises. */
import type { ActionFact, EndpointFact } from '../contract/facts';
import { decoded, integerOf } from '../platform/reading';
import { PATH as LOGIN_PATH } from './dialect/login';
import type { Computed, Endpoint, Endpoints } from './endpoints';

export const BASE = '/api/v2';
/** Methods that change nothing: all that a route takes which only shows. */
export const SAFE = ['GET', 'HEAD', 'OPTIONS'];
const LIST = ['GET', 'POST', 'HEAD', 'OPTIONS'];
const DETAIL = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const LOGIN = ['GET', 'POST', 'OPTIONS'];

export type Route = { suffix?: string; allow: readonly string[] } & (
  | { kind: 'root'; endpoint?: undefined }
  | { kind: 'login'; endpoint?: undefined }
  | { kind: 'free'; endpoint?: undefined; computed: Computed<EndpointFact> }
  | { kind: 'list'; endpoint: Endpoint }
  | { kind: 'detail'; endpoint: Endpoint; id: string }
  | { kind: 'action'; endpoint: Endpoint; id: string; computed: Computed<ActionFact> }
);

const ROOT = /^(?:\.([a-z0-9]+)\/?)?$/;
const GENERAL = /^([a-z0-9-]+)(?:\/([^/.]+)(?:\/([a-z_]+))?)?(?:\.([a-z0-9]+)\/?|(\/)?)$/;

/** Of anything that is no number: it names no row, whatever else GraphQL may know a row by. */
const NO_ROW = '0';

/** Ids may have blanks around them and leading zeros. */
const idOf = (text: string): string => {
  const number = integerOf(decoded(text)) ?? -1;
  return Number.isSafeInteger(number) && number >= 0 ? String(number) : NO_ROW;
};

/** `redirect`: the route exists with a slash at the end. Undefined: there is no such path. */
export function findRoute({ resources, free }: Endpoints, path: string): Route | 'redirect' | undefined {
  if (path === BASE) return 'redirect';
  if (!path.startsWith(`${BASE}/`)) return undefined;
  const below = path.slice(BASE.length + 1);
  const root = ROOT.exec(below);
  if (root) return { kind: 'root', suffix: root[1], allow: SAFE };

  const bare = below.endsWith('/') ? below.slice(0, -1) : below;
  const computed = free.get(bare);
  if (computed || bare === LOGIN_PATH) {
    if (bare === below) return 'redirect';
    return computed ? { kind: 'free', computed, allow: SAFE } : { kind: 'login', allow: LOGIN };
  }

  const [, name = '', id, actionName, suffix, slash] = GENERAL.exec(below) ?? [];
  const endpoint = resources.get(name);
  const action = actionName === undefined ? undefined : endpoint?.actions.get(actionName);
  if (!endpoint || (actionName !== undefined && !action)) return undefined;
  if (suffix === undefined && !slash) return 'redirect';
  const all = endpoint.view.routes === 'all';
  if (id === undefined) return { kind: 'list', endpoint, suffix, allow: all ? LIST : SAFE };
  if (action) return { kind: 'action', endpoint, id: idOf(id), computed: action, suffix, allow: SAFE };
  return { kind: 'detail', endpoint, id: idOf(id), suffix, allow: all ? DETAIL : SAFE };
}
