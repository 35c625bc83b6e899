/** Handler for unknown paths (404): an HTML page for browsers, JSON for other clients. */
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { renderErrorPage } from './errorpage';
import { PAGE_HEADERS } from './securityheaders';
import type { RequestContext } from '../request/requestcontext';

export const notFoundHandler =
  (contextOf: (request: IncomingMessage) => RequestContext): RequestHandler =>
  async (request, response) => {
    response.status(404).vary('Accept');
    if (request.accepts(['json', 'html']) !== 'html')
      return void response.json({ detail: 'Not found.' });
    const { authentication } = contextOf(request);
    // Authenticates the client, because the header of the page shows who is signed in. Invalid credentials are ignored.
    await authentication.authenticate().catch(() => false);
    const link = { href: '/', label: 'Go to the home page' };
    response.set(PAGE_HEADERS).type('html');
    response.send(
      renderErrorPage(
        { title: 'Page not found', message: 'This page does not exist.', link },
        authentication.pageVisitor(),
      ),
    );
  };
