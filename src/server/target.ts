/** The address of a request as its sender may write it → the path and query that everything here knows; and headers that say two things. */
import type { IncomingMessage } from 'node:http';

const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/** What no path needs to escape: letters and the few signs that stand beside them, and the slash. */
const PLAIN = /%(?:2[DEF]|3\d|[46][1-9A-F]|[57][0-9A]|5F|7E)/gi;

const plain = (escaped: string): string => String.fromCharCode(parseInt(escaped.slice(1), 16));

/** Whether the address is written as browsers and most clients do. */
function isUsual(url: string): boolean {
  const mark = url.indexOf('?');
  const within = (text: string) => {
    const at = url.indexOf(text);
    return at >= 0 && (mark < 0 || at < mark);
  };
  return url.startsWith('/') && !within('//') && !within('%') && !url.includes('#');
}

/** One slash for several, letters for their escapes, and nothing of a fragment, which is the client's own. */
function written(url: string): string {
  const [address = ''] = url.split('#', 1);
  const mark = address.indexOf('?');
  const path = mark < 0 ? address : address.slice(0, mark);
  const tidied = path.replace(PLAIN, plain).replace(/\/{2,}/g, '/');
  return `${tidied.startsWith('/') ? tidied : `/${tidied}`}${mark < 0 ? '' : address.slice(mark)}`;
}

/**
 * Clients in the field write paths such as `//api/v2/workout/`, and proxies the whole address, `GET http://host/api/v2/workout/`. The host of such an
 * address is not looked at: links name that of the `Host` header, which proxies set.
 */
export function tidied(url: string): string {
  if (url === '*' || isUsual(url)) return url;
  return written(url.replace(ABSOLUTE, ''));
}

const ONCE = ['host', 'authorization'];

/** The first header that stands twice though it means one thing: Node takes the first, and what is before it perhaps the last. */
export const repeatedHeader = ({ rawHeaders }: IncomingMessage): string | undefined =>
  ONCE.find((name) => rawHeaders.filter((raw, at) => at % 2 === 0 && raw.length === name.length && raw.toLowerCase() === name).length > 1);
