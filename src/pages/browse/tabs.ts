/** Tabs for the developer panels of a page, as `<details name>`. A script reopens the tab that was open on the previous page. */
import express, { type Router } from 'express';

/** Value of `<details name>`. Browsers keep at most one element of a group open. */
export const TAB_GROUP_NAME = 'program';
export const TABS_SCRIPT_PATH = '/pages/tabs.js';

/** Browser script that remembers the open tab and reopens it on the next page. If localStorage is blocked, no tab is reopened. */
const TABS_SCRIPT = `'use strict';
{
  const KEY = 'fitgraph-tab';
  const tabs = [...document.querySelectorAll('details[name=${TAB_GROUP_NAME}]')];
  const nameOf = (tab) => tab.firstElementChild.textContent;
  let storedName = '';
  try {
    storedName = localStorage.getItem(KEY) || '';
  } catch {}
  const lastTab = tabs.find((tab) => nameOf(tab) === storedName);
  if (lastTab) lastTab.open = true;
  for (const tab of tabs)
    tab.firstElementChild.addEventListener('click', () => {
      try {
        localStorage.setItem(KEY, tab.open ? '' : nameOf(tab));
      } catch {}
    });
}
`;

export function tabRoutes(): Router {
  const router = express.Router({ caseSensitive: true });
  router.get(TABS_SCRIPT_PATH, (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('js').send(TABS_SCRIPT);
  });
  return router;
}
