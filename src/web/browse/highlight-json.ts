/**
 * Renders JSON as highlighted HTML with links for ids and URLs. Builds strings instead of elements,
 * because the JSON may have thousands of tokens.
 */
import escape from 'escape-html';
import { detailPath } from './view/page-routes';
import { EMPTY_ID_LINK_TREE, type IdLinkTree } from './view/id-link-tree';

const URL_PATTERN = /^(?:https?:\/\/|\/(?=[a-z]))[^\s<>"']+$/i;

/** Quotation mark in escaped HTML. */
const QUOTE_ENTITY = '&quot;';

const highlightToken = (kind: string, text: string) => `<span class="${kind}">${text}</span>`;

function renderLeaf(value: unknown, { endpointName }: IdLinkTree, origin: string): string {
  const text = escape(JSON.stringify(value));

  if (typeof value === 'string') {
    if (!URL_PATTERN.test(value)) return highlightToken('str', text);

    const unquotedText = text.slice(QUOTE_ENTITY.length, -QUOTE_ENTITY.length);
    const url = value.startsWith('/') ? origin + value : value;
    const link = `<a href="${escape(url)}" rel="nofollow noreferrer">${unquotedText}</a>`;

    return highlightToken('str', QUOTE_ENTITY + link + QUOTE_ENTITY);
  }

  if (typeof value === 'number') {
    const html = highlightToken('num', text);

    if (endpointName === undefined) return html;

    return `<a href="${escape(detailPath(endpointName, value))}">${html}</a>`;
  }

  return highlightToken('lit', text);
}

/**
 * Renders a JSON value as HTML. `links` describes which values are ids. It also applies to an
 * object or list under a key that it does not contain. `origin` is the scheme and host of URLs that
 * have none.
 */
export function highlightJson(
  body: unknown,
  links: IdLinkTree,
  origin: string,
  indent = '',
): string {
  if (body === null || typeof body !== 'object') return renderLeaf(body, links, origin);
  const innerIndent = `${indent}  `;

  if (Array.isArray(body)) {
    if (body.length === 0) return '[]';
    const items = body.map((item) => innerIndent + highlightJson(item, links, origin, innerIndent));

    return `[\n${items.join(',\n')}\n${indent}]`;
  }

  const entries = Object.entries(body);

  if (entries.length === 0) return '{}';
  const lines = entries.map(([key, value]) => {
    let childLinkTree = value !== null && typeof value === 'object' ? links : EMPTY_ID_LINK_TREE;

    if (Object.hasOwn(links.childrenByKey, key)) childLinkTree = links.childrenByKey[key]!;
    const keyHtml = highlightToken('key', escape(JSON.stringify(key)));

    return `${innerIndent}${keyHtml}: ${highlightJson(value, childLinkTree, origin, innerIndent)}`;
  });

  return `{\n${lines.join(',\n')}\n${indent}}`;
}
