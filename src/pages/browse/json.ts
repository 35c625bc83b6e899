/** JSON as HTML: coloured, with ids and URLs as links. Text and not elements, because a page may hold ten thousand rows. */
import escape from 'escape-html';
import type { Links } from './view/links';

const NOWHERE: Links = { keys: {} };
const URL_TEXT = /^(?:https?:\/\/|\/(?=[a-z]))[^\s<>"']+$/i;

const token = (kind: string, text: string) => `<span class="${kind}">${text}</span>`;

function leaf(value: unknown, { endpoint }: Links, base: string): string {
  const text = escape(JSON.stringify(value));
  if (typeof value === 'string') {
    if (!URL_TEXT.test(value)) return token('str', text);
    return token('str', `&quot;<a href="${escape(value)}" rel="nofollow noreferrer">${text.slice(6, -6)}</a>&quot;`);
  }
  if (typeof value === 'number') {
    const shown = token('num', text);
    return endpoint === undefined ? shown : `<a href="${escape(`${base}/${endpoint}/${value}/`)}">${shown}</a>`;
  }
  return token('lit', text);
}

/** `base` is the path of the endpoints. A key that the links don't know is an envelope: what is in it counts as if it stood there itself. */
export function highlight(body: unknown, links: Links, base: string, indent = ''): string {
  if (body === null || typeof body !== 'object') return leaf(body, links, base);
  const inner = `${indent}  `;
  if (Array.isArray(body)) {
    if (body.length === 0) return '[]';
    const items = body.map((item) => inner + highlight(item, links, base, inner));
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(body);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, value]) => {
    const below = Object.hasOwn(links.keys, key) ? links.keys[key]! : value !== null && typeof value === 'object' ? links : NOWHERE;
    return `${inner}${token('key', escape(JSON.stringify(key)))}: ${highlight(value, below, base, inner)}`;
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
