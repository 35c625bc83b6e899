/** What a page has for programs, one beside the other; the one that was opened last is open on the next page too, where a script runs. */
import express, { type Router } from 'express';

/** Tabs of one group close each other; a browser does that itself. */
export const GROUP = 'program';
export const TABS_PATH = '/pages/tabs.js';

/** A browser may refuse to keep anything; then tabs are closed as they are without a script. */
const TABS_SCRIPT = `'use strict';
{
  const KEY = 'fitgraph-tab';
  const tabs = [...document.querySelectorAll('details[name=${GROUP}]')];
  const nameOf = (tab) => tab.firstElementChild.textContent;
  let known = '';
  try {
    known = localStorage.getItem(KEY) || '';
  } catch {}
  const last = tabs.find((tab) => nameOf(tab) === known);
  if (last) last.open = true;
  for (const tab of tabs)
    tab.firstElementChild.addEventListener('click', () => {
      try {
        localStorage.setItem(KEY, tab.open ? '' : nameOf(tab));
      } catch {}
    });
}
`;

export function tabs(): Router {
  const router = express.Router({ caseSensitive: true });
  router.get(TABS_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(TABS_SCRIPT);
  });
  return router;
}
