/** Where a visitor goes after signing in. */

const HERE = 'http://here.invalid';

/**
 * The path if it is one of this site, else undefined. Browsers read addresses with more leniency than they are written: backslashes are
 * slashes, tabs are nothing, dots go away; so it is taken apart as they do it.
 */
export function ownPath(next: string | undefined): string | undefined {
  if (!next?.startsWith('/') || !URL.canParse(next, HERE)) return undefined;
  const { origin, pathname, search, hash } = new URL(next, HERE);
  // `/.//other.example` is a path here, but what is left of it names another host.
  if (origin !== HERE || pathname.startsWith('//')) return undefined;
  return pathname + search + hash;
}
