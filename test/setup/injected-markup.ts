/**
 * Inspects a page with a browser's HTML parser: finds injected elements and attributes, and the
 * displayed texts.
 */
import { parse, type DefaultTreeAdapterMap } from 'parse5';
import { BROWSE_STYLE } from '../../src/web/browse/style';
import { DEFAULT_STYLE } from '../../src/web/style';

type Node = DefaultTreeAdapterMap['childNode'];
type Element = DefaultTreeAdapterMap['element'];

const SCRIPTS = /^\/(?:pages|playground\/assets|api\/v2\/schema\/docs\/assets)\/[\w./-]+\.js$/;
const PICTURES = /^\/(?:media|static\/images\/muscles)\//;
const ADDRESSES = [
  'href',
  'src',
  'action',
  'formaction',
  'xlink:href',
  'data',
  'poster',
  'srcset',
  'ping',
  'background',
  'manifest',
];
const ACTIVE = [
  'iframe',
  'frame',
  'object',
  'embed',
  'base',
  'applet',
  'template',
  'math',
  'video',
  'audio',
  'marquee',
  'portal',
];
const CONTROLS = ['input', 'select', 'textarea'];

/** Lengths of bars. */
const BAR = /^width:\d+\.\d%$/;

const isElement = (node: Node): node is Element => 'tagName' in node;
const childrenOf = (node: Node | DefaultTreeAdapterMap['document']): Node[] =>
  'childNodes' in node ? node.childNodes : [];
const tagText = ({ tagName, attrs }: Element) =>
  `<${[tagName, ...attrs.map(({ name, value }) => `${name}="${value}"`)].join(' ')}>`;

function isForeign(element: Element, inChart: boolean): boolean {
  const { tagName, attrs } = element;
  const value = (attribute: string) => attrs.find(({ name }) => name === attribute)?.value;

  if (ACTIVE.includes(tagName)) return true;

  if (
    tagName === 'script' &&
    (!SCRIPTS.test(value('src') ?? '') || element.childNodes.length > 0)
  ) {
    return true;
  }

  if (tagName === 'img' && !PICTURES.test(value('src') ?? '')) return true;
  if (tagName === 'svg' && !inChart) return true;
  if (tagName === 'meta' && value('http-equiv') !== undefined) return true;
  const isAhead = tagName === 'link' && value('rel') === 'modulepreload';

  if (isAhead && !SCRIPTS.test(value('href') ?? '')) return true;

  if (tagName === 'link' && !isAhead && !['icon', 'stylesheet'].includes(value('rel') ?? '')) {
    return true;
  }

  return attrs.some(({ name, prefix, value: text }) => {
    const full = prefix ? `${prefix}:${name}` : name;

    if (/^on/i.test(full) || !/^[a-z][\w:-]*$/i.test(full) || full === 'srcdoc') return true;

    // A redisplayed form focuses its first invalid field.
    if (full === 'autofocus') {
      return !CONTROLS.includes(tagName) || value('aria-invalid') !== 'true';
    }

    if (full === 'style' && !inChart) return !BAR.test(text);
    if (!ADDRESSES.includes(full) || (tagName === 'link' && text === 'data:,')) return false;

    return (
      !URL.canParse(text, 'http://here.invalid') ||
      !/^https?:$/.test(new URL(text, 'http://here.invalid').protocol)
    );
  });
}

/** The last parsed page, because tests inspect a page several times. */
let read: { html: string; document: DefaultTreeAdapterMap['document'] } | undefined;

/** Removes our own style sheets, which are most of a page and need no check. */
const withoutStyle = (html: string): string =>
  html.replace(BROWSE_STYLE, '').replace(DEFAULT_STYLE, '');

function documentOf(html: string): DefaultTreeAdapterMap['document'] {
  if (read?.html !== html) read = { html, document: parse(withoutStyle(html)) };

  return read.document;
}

/** Elements and comments that our pages never contain. */
export function foreignElements(html: string): string[] {
  const found: string[] = [];
  let styles = 0;
  let focused = 0;

  (function walk(node: Node | DefaultTreeAdapterMap['document'], inChart: boolean) {
    for (const child of childrenOf(node)) {
      if (child.nodeName === '#comment') found.push(`<!--${(child as { data?: string }).data}-->`);
      if (!isElement(child)) continue;
      if (child.tagName === 'style' && !inChart && (styles += 1) > 1) found.push(tagText(child));

      if (child.attrs.some(({ name }) => name === 'autofocus') && (focused += 1) > 1) {
        found.push(tagText(child));
      }

      if (isForeign(child, inChart)) found.push(tagText(child));
      walk(
        child,
        inChart || child.attrs.some(({ name, value }) => name === 'class' && value === 'chart'),
      );
    }
  })(documentOf(html), false);

  return found;
}

/** All texts and attribute values. */
export function visibleTexts(html: string): string {
  const texts: string[] = [];

  (function walk(node: Node | DefaultTreeAdapterMap['document']) {
    if ('value' in node) texts.push(node.value);
    if ('attrs' in node) texts.push(...node.attrs.map(({ value }) => value));
    childrenOf(node).forEach(walk);
  })(documentOf(html));

  return texts.join('\n');
}
