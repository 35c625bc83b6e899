/** Renders JSON as highlighted HTML, with links for ids and URLs. Builds strings, not elements, because the JSON may have thousands of tokens. */
import escape from 'escape-html';
import { detailPath } from './view/pageroutes';
import type { IdLinkTree } from './view/idlinktree';

const EMPTY_ID_LINK_TREE: IdLinkTree = { childrenByKey: {} };
const URL_PATTERN = /^(?:https?:\/\/|\/(?=[a-z]))[^\s<>"']+$/i;

const highlightToken = (kind: string, text: string) => `<span class="${kind}">${text}</span>`;

function renderLeaf(value: unknown, { endpointName }: IdLinkTree): string {
  const text = escape(JSON.stringify(value));
  if (typeof value === 'string') {
    if (!URL_PATTERN.test(value)) return highlightToken('str', text);
    return highlightToken(
      'str',
      `&quot;<a href="${escape(value)}" rel="nofollow noreferrer">${text.slice(6, -6)}</a>&quot;`,
    );
  }
  if (typeof value === 'number') {
    const html = highlightToken('num', text);
    return endpointName === undefined
      ? html
      : `<a href="${escape(detailPath(endpointName, value))}">${html}</a>`;
  }
  return highlightToken('lit', text);
}

/**
 * Renders the JSON value `body` as HTML. `links` describes which values are ids; if it has no entry for a key, an object or list under that key is
 * rendered with `links` itself.
 */
export function highlightJson(body: unknown, links: IdLinkTree, indent = ''): string {
  if (body === null || typeof body !== 'object') return renderLeaf(body, links);
  const innerIndent = `${indent}  `;
  if (Array.isArray(body)) {
    if (body.length === 0) return '[]';
    const items = body.map((item) => innerIndent + highlightJson(item, links, innerIndent));
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(body);
  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, value]) => {
    const childLinkTree = Object.hasOwn(links.childrenByKey, key)
      ? links.childrenByKey[key]!
      : value !== null && typeof value === 'object'
        ? links
        : EMPTY_ID_LINK_TREE;
    return `${innerIndent}${highlightToken('key', escape(JSON.stringify(key)))}: ${highlightJson(value, childLinkTree, innerIndent)}`;
  });
  return `{\n${lines.join(',\n')}\n${indent}}`;
}
