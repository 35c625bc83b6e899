/**
 * Security headers of every response, including errors: browsers never interpret other content as
 * HTML, and pages load and frame only their own resources.
 *
 * Files by attack:
 *
 * | attack | file | | ------------------------------------------------------------------------ |
 * ------------------------------------------------ | | markup in stored texts, forms, filters,
 * searches, usernames | xss.test.ts | | content sniffing; foreign resources in pages |
 * answers.test.ts | | cross-site request forgery, also of logins | test/request/csrf.test.ts | |
 * path traversal, names and contents of uploads, unknown formats | test/files/hostile-files.test.ts
 * | | hosts in links, untrusted proxies, redirects, line breaks in headers |
 * test/rest/links-and-redirects.test.ts | | SQL injection, prototype pollution, expensive bodies |
 * injection.test.ts | | another user's rows | test/engine/access | | password guessing, session
 * fixation, stolen sessions | test/web/account/sign-in.test.ts | | forged tokens, keys of other
 * secrets | test/accounts | | deeply nested queries | test/graphql/document-limits.test.ts |
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { createOwnedRows } from '../../setup/owned-rows';
import type { Answer, Person } from '../../setup/person';
import { html } from '../../files/pictures';
import { endpoints, searches } from '../../setup/rest-endpoints';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await createOwnedRows(ann);
  mkdirSync(fitgraph.mediaFolder, { recursive: true });

  for (const name of ['page.html', 'page.svg', 'page', 'page.png']) {
    writeFileSync(join(fitgraph.mediaFolder, name), html);
  }
});

const METHODS = ['GET', 'POST', 'DELETE', 'OPTIONS'];
const PLACES = [
  ...endpoints.flatMap(({ view, actions }) => [
    `/api/v2/${view.restName}/`,
    `/api/v2/${view.restName}/1/`,
    ...[...actions.keys()].map((action) => `/api/v2/${view.restName}/1/${action}/`),
  ]),
  ...searches.map((search) => `/api/v2/${search}/?term=%3Cscript%3E`),
  ...[
    '/api/v2/',
    '/api/v2',
    '/api/v2/login/',
    '/api/v2/schema',
    '/api/v2/schema.json',
    '/api/v2/schema.yaml',
    '/api/v2/schema/docs',
  ],
  ...[
    '/',
    '/login',
    '/logout',
    '/register',
    '/user',
    '/user/api-key',
    '/user/api-key/replace',
    '/pages/copy.js',
    '/playground',
    '/playground/assets/x.js',
  ],
  ...[
    '/graphql',
    '/graphql?query={viewer{id}}',
    '/graphql?query=%3Cscript%3E',
    '/health/live',
    '/health/ready',
    '/favicon.ico',
    '/%3Cscript%3E',
  ],
  ...[
    '/media/page.html',
    '/media/page.svg',
    '/media/page',
    '/media/page.png',
    '/media/',
    '/media/%3Cscript%3E',
    '/%',
    '/login/%ff',
  ],
];

function expectSafe({ status, headers, text }: Answer, requestLine: string): void {
  expect({ asked: requestLine, failed: status === 500 }).toEqual({
    asked: requestLine,
    failed: false,
  });
  const type = headers.get('content-type');

  if (text !== '') {
    expect({ asked: requestLine, type }).toEqual({ asked: requestLine, type: expect.any(String) });
  }

  if (type === null) return;
  const sniffing = { asked: requestLine, type, sniffed: headers.get('x-content-type-options') };

  expect(sniffing).toEqual({ asked: requestLine, type, sniffed: 'nosniff' });
  if (!/html|xml|svg/.test(type)) return;
  const policy = headers.get('content-security-policy') ?? '';

  expect({ asked: requestLine, policy }).toEqual({
    asked: requestLine,
    policy: expect.stringContaining("default-src 'none'"),
  });
  expect(policy).toContain("script-src 'self';");

  for (const directive of ["base-uri 'none'", "frame-ancestors 'none'", 'form-action ']) {
    expect(policy).toContain(directive);
  }
}

test.each(['application/json', 'text/html,*/*;q=0.8'])(
  'sends safe headers from every path and method for Accept: %s',
  async (accept) => {
    for (const person of [ann, fitgraph.anonymous]) {
      for (const place of PLACES) {
        for (const method of METHODS) {
          const answer = await person
            .withHeaders({ Accept: accept })
            .send(method, place, method === 'GET' ? undefined : '<script>');

          expectSafe(answer, `${method} ${place}`);
        }
      }
    }
  },
);

test('sends markup in JSON as application/json and never as JSONP', async () => {
  const { headers, text } = await ann.post('/workout/', { comment: '<script>alert(1)</script>' });

  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(text).toContain('<script>');

  for (const format of ['json', 'json&callback=alert', 'json&jsonp=alert']) {
    expect((await ann.get(`/workout/?format=${format}`)).text).toMatch(/^\{/);
  }
});
