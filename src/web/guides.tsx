/** Serves the guides below `/docs`. `scripts/guides.mjs` renders them at build time. */
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import express, { type Router } from 'express';
import type { RequestContext } from '../request/request-context';
import { BROWSER_FILES_FOLDER, readBrowserScript } from './browser-files';
import { sendPage } from './html-response';
import { renderPage, type Visitor } from './layout';

interface Guide {
  /** Name in the URL. That of the index is empty. */
  name: string;
  title: string;
  html: string;
}

export const GUIDES_PATH = '/docs';
const GUIDES_CRUMB = { label: 'Guides', href: GUIDES_PATH };

const renderGuidePage = ({ name, title, html }: Guide, visitor: Visitor) =>
  renderPage({
    title,
    visitor,
    crumbs: name === '' ? [{ label: 'Guides' }] : [GUIDES_CRUMB, { label: title }],
    children: <article class="guide" dangerouslySetInnerHTML={{ __html: html }} />,
  });

export function guideRoutes(contextOf: (request: IncomingMessage) => RequestContext): Router {
  const guides = JSON.parse(readBrowserScript('guides/guides.json')) as Guide[];
  const guideByName = new Map(guides.map((guide) => [guide.name, guide]));
  const router = express.Router({ caseSensitive: true });

  router.get([GUIDES_PATH, `${GUIDES_PATH}/:name`], async (request, response, next) => {
    const { name = '' } = request.params as { name?: string };
    const guide = guideByName.get(name);

    if (!guide) return next();
    const { authentication } = contextOf(request);

    // Invalid credentials are ignored, because the page is public.
    await authentication.authenticate().catch(() => false);
    sendPage(response, 200, renderGuidePage(guide, authentication.pageVisitor()));
  });
  router.use(GUIDES_PATH, express.static(join(BROWSER_FILES_FOLDER, 'guides'), { index: false }));
  return router;
}
