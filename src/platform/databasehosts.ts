/**
 * Connection URLs with several hosts, as in libpq: `postgres://user@host1:5432,host2:5433/name?target_session_attrs=read-write`.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */

export const TARGET_SESSION_ATTRS = ['any', 'read-write', 'primary'] as const;
export type TargetSessionAttrs = (typeof TARGET_SESSION_ATTRS)[number];

const SCHEME_PATTERN = /^postgres(?:ql)?:\/\//;
const AUTHORITY_PATTERN = /^[^/?#]*/;
const TARGET_SESSION_ATTRS_PARAMETER = 'target_session_attrs';

export interface DatabaseHosts {
  urls: string[];
  requiredSessionAttrs: TargetSessionAttrs;
}

/** Parses a connection URL into one URL for each host. Returns undefined if it is not a PostgreSQL URL or its target_session_attrs is not supported. */
export function parseDatabaseHosts(text: string): DatabaseHosts | undefined {
  const scheme = SCHEME_PATTERN.exec(text)?.[0];
  if (scheme === undefined) return undefined;
  const authority = AUTHORITY_PATTERN.exec(text.slice(scheme.length))![0];
  const credentials = authority.slice(0, authority.lastIndexOf('@') + 1);
  const hosts = authority.slice(credentials.length).split(',');
  const pathAndQuery = text.slice(scheme.length + authority.length);
  const urls = hosts.map((host) => `${scheme}${credentials}${host}${pathAndQuery}`);
  if (!urls.every((url) => URL.canParse(url)) || (hosts.length > 1 && hosts.includes(''))) return undefined;
  const requiredSessionAttrs = new URL(urls[0]!).searchParams.get(TARGET_SESSION_ATTRS_PARAMETER) ?? 'any';
  return (TARGET_SESSION_ATTRS as readonly string[]).includes(requiredSessionAttrs)
    ? { urls, requiredSessionAttrs: requiredSessionAttrs as TargetSessionAttrs }
    : undefined;
}
