/**
 * Renders the guides, which are Markdown files in docs/ and at the top, to HTML for the pages below
 * `/docs`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import MarkdownIt from 'markdown-it';

const INDEX_FILE = 'README.md';
const IMAGE_PATTERN = /\.png$/;
const COMMENT_PATTERN = /<!--.*?-->/gs;

/** Origin in the examples of the guides. Links to it lead to the server that shows the guide. */
const EXAMPLE_ORIGIN = 'http://localhost:8000';

const filesIn = (folder, isWanted) =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter(isWanted);

export const guideFiles = () =>
  ['.', 'docs'].flatMap((folder) => filesIn(folder, (file) => file.endsWith('.md'))).sort();
export const guideImages = () => filesIn('docs', (file) => IMAGE_PATTERN.test(file));

/** Name of a guide in its URL. That of the index is empty. */
const nameOf = (file) => (file === INDEX_FILE ? '' : basename(file, '.md').toLowerCase());
const urlOf = (name) => (name === '' ? '/docs' : `/docs/${name}`);

/** The id that GitHub gives to a heading. */
const headingId = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- ]/gu, '')
    .replaceAll(' ', '-');

/**
 * URL for a link target, such as `scaling.md#capacity`. Undefined for files that the server does
 * not show.
 */
function resolveTarget(target, guide, files) {
  if (target.startsWith(EXAMPLE_ORIGIN)) return target.slice(EXAMPLE_ORIGIN.length) || '/';
  if (/^[a-z]+:|^#/.test(target)) return target;
  const [path, anchor] = target.split('#');
  const file = normalize(join(guide, '..', path));

  if (IMAGE_PATTERN.test(file)) return `/docs/${basename(file)}`;
  if (!files.includes(file)) return undefined;

  return urlOf(nameOf(file)) + (anchor === undefined ? '' : `#${anchor}`);
}

function createRenderer(files) {
  const markdown = new MarkdownIt();
  const { rules } = markdown.renderer;
  const escape = markdown.utils.escapeHtml;

  // Wide content scrolls within a region that the keyboard can reach.
  rules.table_open = () =>
    '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n';
  rules.table_close = () => '</table></div>\n';

  rules.fence = rules.code_block = (tokens, index) =>
    `<pre tabindex="0"><code>${escape(tokens[index].content)}</code></pre>\n`;

  markdown.core.ruler.push('guides', ({ tokens, env }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open') token.attrSet('id', headingId(tokens[index + 1].content));
      // Inline styles violate the Content Security Policy of the pages.
      if (/^t[hd]_open$/.test(token.type)) token.attrs = null;
      for (const child of token.children ?? []) resolveLink(child, env.guide, files);
    }
  });

  return markdown;
}

function resolveLink(token, guide, files) {
  const attribute = { link_open: 'href', image: 'src' }[token.type];

  if (!attribute) return;
  const url = resolveTarget(token.attrGet(attribute), guide, files);

  // The text of a link to another file stays, as in `<a>` without a target.
  if (url === undefined) token.attrs = null;
  else token.attrSet(attribute, url);
}

/** Guides with their name, title and HTML. */
export function renderGuides() {
  const files = guideFiles();
  const renderer = createRenderer(files);

  return files.map((file) => {
    const text = readFileSync(file, 'utf8');

    return {
      name: nameOf(file),
      title: /^# (.*)$/m.exec(text)[1],
      html: renderer.render(text.replace(COMMENT_PATTERN, ''), { guide: file }),
    };
  });
}
