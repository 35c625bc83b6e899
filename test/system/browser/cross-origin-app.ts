/** A web application on another origin: urql with its defaults, subscriptions and exports. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSync } from 'esbuild';
import type { Page } from 'playwright-core';
import type { BrowserSetup } from './person';

const APPLICATION = `
  import { Client, fetchExchange } from '@urql/core';
  window.clientFor = (url, token) =>
    new Client({ url, exchanges: [fetchExchange], fetchOptions: { headers: { Authorization: 'Bearer ' + token } } });
`;

/** Serves an empty page with the application, on an origin of its own. */
async function serveApplication(): Promise<{ url: string; stop(): void }> {
  const { outputFiles } = buildSync({
    stdin: { contents: APPLICATION, resolveDir: __dirname },
    bundle: true,
    write: false,
  });
  const server = createServer((_request, response) => {
    response
      .setHeader('Content-Type', 'text/html')
      .end(`<!doctype html><link rel=icon href=data:,><script>${outputFiles[0]!.text}</script>`);
  });

  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    stop: () => server.close(),
  };
}

export function describeCrossOrigin(browserSetup: () => BrowserSetup): void {
  describe('a web application on another origin', () => {
    let application: Awaited<ReturnType<typeof serveApplication>>;
    let page: Page;

    /** Evaluates an expression in the page; `api` is the server's URL, `token` the demo user's. */
    const evaluate = (expression: string) => {
      const { url, demo } = browserSetup();

      return page.evaluate<unknown>(
        `((api, token) => (async () => ${expression})())(${JSON.stringify(url)}, ${JSON.stringify(demo.token)})`,
      );
    };

    beforeAll(async () => {
      application = await serveApplication();
      page = await browserSetup().foreignPage();
      await page.goto(application.url);
    });
    afterAll(() => application?.stop());

    test('queries by GET and writes by POST with urql', async () => {
      const run = (operation: string) =>
        evaluate(`{
          const { data, error } = await clientFor(api + '/graphql', token).${operation}.toPromise();
          return { data, error: error?.message };
        }`);

      expect(await run("query('{ viewer { username } }', {})")).toEqual({
        data: { viewer: expect.objectContaining({ username: browserSetup().demo.username }) },
        error: undefined,
      });
      const mutation =
        'mutation { createWorkout(input: { name: "From elsewhere" }) { workout { name } errors { code } } }';

      expect(await run(`mutation('${mutation}', {})`)).toMatchObject({
        data: { createWorkout: { workout: { name: 'From elsewhere' }, errors: [] } },
      });
    });

    test('reads the headers of REST and GraphQL responses, an error and an export', async () => {
      const read = (path: string) =>
        evaluate(`{
          const response = await fetch(api + '${path}', { headers: { Authorization: 'Bearer ' + token, 'Apollo-Require-Preflight': '1' } });
          await response.text();
          return [response.status, response.headers.get('x-request-id') !== null, response.headers.get('ratelimit') !== null];
        }`);
      const query = encodeURIComponent('{ exercises { nodes { name } } }');

      expect(await read(`/graphql?query=${query}`)).toEqual([200, true, true]);
      expect(await read(`/graphql/export.csv?query=${query}`)).toEqual([200, true, true]);
      expect(await read('/graphql?query=x')).toEqual([expect.any(Number), true, true]);
      // REST accepts API keys with the scheme "Token" only, so this client is anonymous.
      expect(
        await evaluate(
          "(await fetch(api + '/api/v2/exercise/?limit=1')).json().then(({ results }) => results.length)",
        ),
      ).toBe(1);
    });

    test('receives the events of a subscription', async () => {
      const first = evaluate(`{
        const response = await fetch(api + '/graphql', {
          method: 'POST',
          headers: { Accept: 'text/event-stream', 'Content-Type': 'application/json', Authorization: 'Bearer ' + token },
          body: JSON.stringify({ query: 'subscription { changed { cursor } }' }),
        });
        const type = response.headers.get('content-type');
        await response.body.cancel();
        return [response.status, type];
      }`);

      expect(await first).toEqual([200, expect.stringContaining('text/event-stream')]);
    });

    test('cannot use the session of the signed-in browser', async () => {
      const { url, demo } = browserSetup();
      const person = await browserSetup().person({ signedInAs: demo.username });
      const other = await person.page.context().newPage();

      await other.goto(application.url);
      const send = (credentials: string) =>
        other.evaluate<unknown>(`fetch('${url}/graphql', {
          method: 'POST', credentials: '${credentials}', headers: { 'Content-Type': 'application/json' }, body: '{"query":"{ viewer { id } }"}',
        }).then((response) => response.json(), () => 'blocked')`);

      expect([await send('include'), await send('same-origin')]).toEqual([
        'blocked',
        { data: { viewer: null } },
      ]);
      await other.close();
    });
  });
}
