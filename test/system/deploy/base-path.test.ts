/** The service below the path of PUBLIC_URL, behind a proxy that removes the path. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';
import WebSocket from 'ws';
import { plain } from '../../files/pictures';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { startPrefixProxy, type PrefixProxy } from '../../setup/prefix-proxy';
import { Visitor } from '../../setup/visitor';

const PREFIX = '/fitness';
const MAX_CRAWLED_URLS = 250;

let proxy: PrefixProxy;
const fitgraph = fitgraphForThisFile(async () => {
  proxy = await startPrefixProxy(PREFIX);

  return { environment: { PUBLIC_URL: `${proxy.url}/`, BUDGET: 'off' } };
});
let ann: Person;
let workout: number;

beforeAll(async () => {
  proxy.forwardTo(fitgraph.url);
  const { token, id } = await fitgraph.user('ann', { isSuperuser: true });

  ann = new Person(proxy.url, { token: token!, id: id! });
  workout = (await ann.post('/workout/', { comment: 'Push' })).body.id;
  const monday = { training: workout, description: 'Monday', day: [1] };
  const day = (await ann.post('/day/', monday)).body.id;
  const set = (await ann.post('/set/', { exerciseday: day })).body.id;

  await ann.post('/setting/', { set, exercise: 1, reps: 5 });
  await ann.post('/weightentry/', { date: '2026-01-01', weight: '80' });
  await ann.post('/weightentry/', { date: '2026-01-02', weight: '81' });
  const picture = new Uint8Array(await plain().png().toBuffer());
  const form = new FormData();

  form.set('exercise', '1');
  form.set('image', new Blob([picture]), 'arnold.png');
  expect((await ann.send('POST', '/api/v2/exerciseimage/', form)).status).toBe(201);
  // The file of an image in the catalogue.
  writeFileSync(join(fitgraph.mediaFolder, 'exercise-images/1/squat.png'), picture);
});
afterAll(() => proxy.close());

const URL_ATTRIBUTES = ['href', 'src', 'action', 'data-document'];

type Node = DefaultTreeAdapterTypes.Node;

/** Yields the URLs of links, forms, scripts and images, in the order of the document. */
function* urlsIn(node: Node): Generator<{ url: string; isForm: boolean }> {
  if ('attrs' in node) {
    for (const { name, value } of node.attrs) {
      if (URL_ATTRIBUTES.includes(name)) yield { url: value, isForm: name === 'action' };
    }
  }

  for (const child of 'childNodes' in node ? node.childNodes : []) yield* urlsIn(child);
}

/**
 * Follows the links of pages of this server, breadth first. Returns the URLs that lead out of the
 * prefix or cannot be loaded.
 */
async function crawl(visitor: Visitor, start: string): Promise<{ bad: string[]; count: number }> {
  const base = new URL(proxy.url);
  const queue = [start];
  const seen = new Set(queue);
  const bad: string[] = [];

  for (let index = 0; index < queue.length && index < MAX_CRAWLED_URLS; index += 1) {
    const url = queue[index]!;
    const { status, headers, text } = await visitor.get(url.slice(PREFIX.length), {
      Accept: 'text/html,*/*;q=0.8',
    });

    // Private data is 403 for anonymous visitors.
    if (status === 404 || status >= 500) bad.push(`${status} ${url}`);
    const found = [{ url: headers.get('location') ?? '', isForm: false }];

    if (headers.get('content-type')?.includes('html')) found.push(...urlsIn(parse(text)));

    for (const { url: target, isForm } of found) {
      const { origin, pathname, search } = new URL(target, base.origin + url);

      if (origin !== base.origin) continue;

      if (!pathname.startsWith(`${PREFIX}/`)) bad.push(`${target} on ${url}`);
      else if (!isForm && !seen.has(pathname + search)) {
        seen.add(pathname + search);
        queue.push(pathname + search);
      }
    }
  }

  return { bad, count: queue.length };
}

test.each(['anonymous visitor', 'authenticated visitor'])(
  'all links, forms, scripts and images of pages stay below the path for an %s',
  async (who) => {
    const visitor = new Visitor(proxy.url);

    if (who.startsWith('authenticated')) await visitor.signIn('ann');

    for (const path of [
      '/',
      '/nothing',
      '/playground',
      '/api/v2/weightentry/',
      '/api/v2/exerciseimage/',
      '/api/v2/muscle/1/',
      '/api/v2/nothing/',
    ]) {
      const { bad, count } = await crawl(visitor, PREFIX + path);

      expect([
        path,
        bad.filter((url) => !path.includes('nothing') || !url.startsWith(`404 ${PREFIX}${path}`)),
      ]).toEqual([path, []]);
      expect(count).toBeGreaterThan(5);
    }
  },
);

test('images of rows have the background of the style sheet', async () => {
  const visitor = new Visitor(proxy.url, { Accept: 'text/html' });
  const { text } = await visitor.get('/api/v2/exerciseimage/');
  const urlPart = /img\[src\*="([^"]*)"\]\{background:#fff\}/.exec(text)![1]!;
  const sources = [...text.matchAll(/<img [^>]*src="([^"]*)"/g)].map(([, source]) => source!);

  expect(sources.length).toBeGreaterThan(0);
  expect(sources.filter((source) => !source.includes(urlPart))).toEqual([]);
});

test('sign-in and sign-out redirect below the path, with cookies for the path', async () => {
  const visitor = new Visitor(proxy.url, { Accept: 'text/html' });
  const page = await visitor.get('/playground?question=x');
  const [, link] = /href="([^"]+)">Sign in</.exec(page.text)!;

  expect(link).toBe(`${PREFIX}/login?next=${encodeURIComponent('/playground?question=x')}`);
  const signedIn = await visitor.signIn('ann', undefined, '/playground?question=x');

  expect(signedIn.headers.get('location')).toBe(`${PREFIX}/playground?question=x`);
  const session = signedIn.cookies.find((cookie) => cookie.startsWith('fitgraph='))!;
  const login = signedIn.cookies.find((cookie) => cookie.startsWith('fitgraph-login='))!;

  expect([session, login]).toEqual([
    expect.stringContaining(`Path=${PREFIX}/;`),
    expect.stringContaining(`Path=${PREFIX}/login;`),
  ]);
  const created = await visitor.post('/api/v2/weightentry/', {
    ...(await visitor.fieldsOf('/api/v2/weightentry/', /method="post"[^]*name="weight"/)),
    date: '2026-02-01',
    weight: '82',
  });

  expect([created.status, created.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(`^${PREFIX}/api/v2/weightentry/\\d+/$`),
  ]);
  expect(created.cookies).toEqual([
    expect.stringContaining(`Path=${created.headers.get('location')}`),
  ]);
  const signedOut = await visitor.post('/logout', {
    csrfToken: await visitor.csrfToken(),
  });

  expect(signedOut.headers.get('location')).toBe(`${PREFIX}/`);
});

test('the session cookie over HTTPS requires it, and pages of this origin may open WebSockets', async () => {
  const secure = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: {
      PUBLIC_URL: 'https://fit.example.com/fitness',
      CORS_ORIGINS: 'https://app.example.com',
    },
  });

  try {
    const { cookies, headers } = await new Visitor(secure.url).signIn('ann');

    expect(headers.get('location')).toBe('/fitness/api/v2/');
    expect(cookies).toContainEqual(
      expect.stringMatching(/^__Secure-fitgraph=[\w-]{43}; .*Path=\/fitness\/; .*Secure; /),
    );
    const client = new WebSocket(
      `${secure.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
      { origin: 'https://fit.example.com' },
    );

    await once(client, 'open');
    client.terminate();
  } finally {
    await secure.stop();
  }
});

test('links of REST and GraphQL contain the path', async () => {
  const { body } = await ann.get('/weightentry/?limit=1&offset=1');

  expect(body.previous).toBe(`${proxy.url}/api/v2/weightentry/?limit=1`);
  expect((await ann.get('/weightentry/?limit=1')).body.next).toBe(
    `${proxy.url}/api/v2/weightentry/?limit=1&offset=1`,
  );
  expect((await ann.get('/weightentry')).headers.get('location')).toMatch(
    `${PREFIX}/api/v2/weightentry/`,
  );
  expect((await ann.get('/')).body.workout).toBe(`${proxy.url}/api/v2/workout/`);
  const [image] = (await ann.get('/exerciseimage/?ordering=-id')).body.results;
  const thumbnails = (await ann.get(`/exerciseimage/${image.id}/thumbnails/`)).body;
  const muscle = (await ann.get('/muscle/1/')).body;
  const [{ data: hit }] = (await ann.get('/exercise/search/?term=squat')).body.suggestions;
  const canonical = await ann.get(`/workout/${workout}/canonical_representation/`);
  const canonicalImage = /\/[^"]*media\/[^"]*/.exec(JSON.stringify(canonical.body))![0];
  const { exerciseImage, muscles } = await ann.ask(
    `{ exerciseImage(id: ${image.id}) { image thumbnailUrl } muscles { imageUrlMain } }`,
  );

  for (const url of [
    image.image,
    thumbnails.original,
    thumbnails.small.url,
    muscle.image_url_main,
    muscle.image_url_secondary,
    hit.image,
    hit.image_thumbnail,
    canonicalImage,
    exerciseImage.image,
    exerciseImage.thumbnailUrl,
    muscles[0].imageUrlMain,
  ]) {
    const { pathname, href } = new URL(url, proxy.url);

    expect([url, pathname.startsWith(`${PREFIX}/`)]).toEqual([url, true]);
    expect([url, (await fetch(href)).status]).toEqual([url, 200]);
  }

  const { exerciseImages } = await ann.ask(
    'query ($image: String!) { exerciseImages(where: { image: { eq: $image } }) { nodes { id } } }',
    { image: image.image },
  );

  expect(exerciseImages.nodes).toEqual([{ id: String(image.id) }]);
  const { servers } = (await ann.get('/schema.json')).body;

  expect(servers).toEqual([{ url: `${proxy.url}/api/v2` }]);
});

test('a browser that opens /graphql is redirected to the playground below the path', async () => {
  const { status, headers } = await new Visitor(proxy.url).get('/graphql?query=%7Bx%7D', {
    Accept: 'text/html',
  });

  expect([status, headers.get('location')]).toEqual([303, `${PREFIX}/playground?query=%7Bx%7D`]);
});
