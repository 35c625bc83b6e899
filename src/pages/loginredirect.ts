/** Redirect target after login, restricted to paths of this site. (Open redirects: https://cwe.mitre.org/data/definitions/601.html) */

const PLACEHOLDER_ORIGIN = 'http://here.invalid';

/**
 * Returns the path if it belongs to this site, else undefined. Parses it like a browser (https://url.spec.whatwg.org): backslashes are read as
 * slashes, tabs are dropped and dot segments are resolved.
 */
export function localRedirectPath(next: string | undefined): string | undefined {
  if (!next?.startsWith('/') || !URL.canParse(next, PLACEHOLDER_ORIGIN)) return undefined;
  const { origin, pathname, search, hash } = new URL(next, PLACEHOLDER_ORIGIN);
  // `/.//other.example` is a path of this site, but its normalized form `//other.example` names another host.
  if (origin !== PLACEHOLDER_ORIGIN || pathname.startsWith('//')) return undefined;
  return pathname + search + hash;
}
