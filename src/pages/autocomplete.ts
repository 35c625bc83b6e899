/** Autocomplete for relation fields: suggests rows while a name is typed. Without JavaScript the name is looked up when the form is sent. */
import type { IncomingMessage } from 'node:http';
import express, { type Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { PrepareOperation } from '../rest/endpoints';
import { PRIVATE_CACHE_CONTROL } from '../rest/response';
import { createRowNameSearchLookup } from './browse/view/rownames';
import type { RequestContext } from '../request/requestcontext';

export const AUTOCOMPLETE_SCRIPT_PATH = '/pages/suggest.js';
const SUGGESTIONS_PATH = '/pages/suggestions';

/** Browser script: shows suggestions in a `<datalist>`. Choosing one writes the name into the visible field and the row id into a hidden field. */
const AUTOCOMPLETE_SCRIPT = `'use strict';
for (const input of document.querySelectorAll('input[data-suggest]')) {
  const list = document.createElement('datalist');
  list.id = input.id + '-suggestions';
  input.after(list);
  input.setAttribute('list', list.id);
  const idInput = document.getElementById(input.id + '-chosen');
  let timer;
  let lastInput = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    lastInput += 1;
    const text = input.value.trim();
    const option = [...list.options].find(({ value }) => value === text);
    if (idInput) idInput.value = option ? option.dataset.id : '';
    if (option) return;
    if (text.length < 2 || /^\\d+$/.test(text)) return;
    const thisInput = lastInput;
    timer = setTimeout(async () => {
      const query = new URLSearchParams({ type: input.dataset.suggest, text });
      const response = await fetch('${SUGGESTIONS_PATH}?' + query).catch(() => undefined);
      const matches = response?.ok ? await response.json() : [];
      if (thisInput === lastInput) list.replaceChildren(...matches.map(({ value, label }) => {
        const option = new Option('', label);
        option.dataset.id = value;
        return option;
      }));
    }, 200);
  });
}
`;

export function autocompleteRoutes(
  schema: GraphQLSchema,
  prepareOperation: PrepareOperation,
  contextOf: (request: IncomingMessage) => RequestContext,
): Router {
  const rowSearchOf = createRowNameSearchLookup(schema, prepareOperation);
  const router = express.Router({ caseSensitive: true });
  router.get(AUTOCOMPLETE_SCRIPT_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(AUTOCOMPLETE_SCRIPT);
  });
  router.get(SUGGESTIONS_PATH, async (request, response) => {
    const { type, text } = request.query;
    const rowSearch = typeof type === 'string' ? rowSearchOf(type) : undefined;
    const name = typeof text === 'string' ? text.trim() : '';
    const { authentication, resolverContext } = contextOf(request);
    // Clients with invalid credentials are treated as anonymous, so that public rows are suggested to them.
    await authentication.authenticate().catch(() => false);
    response
      .set('Cache-Control', PRIVATE_CACHE_CONTROL)
      .json((name && (await rowSearch?.findByName?.(resolverContext, name))) || []);
  });
  return router;
}
