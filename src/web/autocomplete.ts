/**
 * Autocomplete for relation fields: suggests rows while a name is typed. Without JavaScript, the
 * server looks the name up when the form is submitted.
 */
import type { IncomingMessage } from 'node:http';
import express, { type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { PrepareOperation } from '../rest/endpoints';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import { readBrowserScript } from './browser-files';
import { createRowSearchLookup } from './browse/view/row-names';
import type { RequestContext } from '../request/request-context';

export const AUTOCOMPLETE_SCRIPT_PATH = '/pages/suggest.js';

/** Endpoint of the suggestions, requested by src/web/browser/suggest.ts. */
const SUGGESTIONS_PATH = '/pages/suggestions';

export function autocompleteRoutes(
  schema: GraphQLSchema,
  prepareOperation: PrepareOperation,
  contextOf: (request: IncomingMessage) => RequestContext,
): Router {
  const script = readBrowserScript('suggest.js');
  const rowSearchOf = createRowSearchLookup(schema, prepareOperation);
  const router = express.Router({ caseSensitive: true });

  router.get(AUTOCOMPLETE_SCRIPT_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(script);
  });
  router.get(SUGGESTIONS_PATH, async (request, response) => {
    const { type, text } = request.query;
    const rowSearch = typeof type === 'string' ? rowSearchOf(type) : undefined;
    const name = typeof text === 'string' ? text.trim() : '';
    const context = contextOf(request);

    // Invalid credentials are ignored, so that public rows are still suggested.
    await context.authentication.authenticate().catch(() => false);
    context.usePreferences();
    const suggestions = name ? await rowSearch?.findByName?.(context, name) : undefined;

    response.set('Cache-Control', PRIVATE_CACHE_CONTROL).json(suggestions ?? []);
  });

  return router;
}
