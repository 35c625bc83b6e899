/**
 * Links and redirects point to this service only, whatever the headers and URL of a request
 * contain.
 */
import { Visitor } from '../setup/visitor';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import { createOwnedRows } from '../setup/owned-rows';
import type { Person } from '../setup/person';
import { sendRaw, type RawAnswer } from '../setup/raw-request';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await createOwnedRows(ann);
});

const EVIL = 'evil.example';
const HOSTS = [
  `${EVIL}/path`,
  `localhost@${EVIL}`,
  `${EVIL}?`,
  `${EVIL}#`,
  `"><script>alert(1)</script>`,
  `${EVIL}:80@localhost`,
  `localhost:8000, ${EVIL}`,
  `localhost ${EVIL}`,
  `localhost\\@${EVIL}`,
  `javascript:alert(1)`,
  `[::1]${EVIL}`,
  'x'.repeat(5000),
];

/** Paths whose responses contain links. */
const LINKED = [
  '/api/v2/',
  '/api/v2/exercise/?limit=1&offset=1',
  '/api/v2/exerciseimage/',
  '/api/v2/exerciseinfo/?limit=1',
  '/api/v2/exercise/search/?term=squat',
  '/api/v2/schema.json',
  '/api/v2/exerciseimage/1/thumbnails/',
  '/api/v2/exercise/?format=api&limit=1',
  '/',
  '/login',
  '/api/v2/exercise',
  '/user/api-key',
];

const links = ({ head, body }: RawAnswer): string[] => [
  ...(body.match(/https?:\/\/[^\s"'&<>\\]+/g) ?? []),
  ...(/^location: (.*)$/im.exec(head)?.slice(1) ?? []),
];

test.each(HOSTS.map((host) => [host.slice(0, 40), host]))(
  'sends no link to a foreign host for Host: %s',
  async (_name, host) => {
    for (const path of LINKED) {
      const answer = await sendRaw(fitgraph.url, `GET ${path}`, [`Host: ${host}`]);

      expect(answer.status).toBeLessThan(500);
      expect(links(answer).filter((link) => link.includes(EVIL))).toEqual([]);
      expect(answer.body).not.toContain('<script>alert');
    }
  },
);

test('links the pages of a list under the Host header of the request', async () => {
  const answer = await sendRaw(fitgraph.url, 'GET /api/v2/exercise/?limit=1&offset=1', [
    'Host: fit.example',
  ]);

  expect(
    links(answer).filter((link) => link.startsWith('http://fit.example/api/v2/exercise/?')),
  ).toHaveLength(2);
});

test('rejects two Host headers and ignores a host in the request target', async () => {
  expect(
    (await sendRaw(fitgraph.url, 'GET /api/v2/language/', ['Host: localhost', `Host: ${EVIL}`]))
      .status,
  ).toBe(400);

  for (const path of LINKED) {
    const answer = await sendRaw(fitgraph.url, `GET http://${EVIL}${path}`);

    expect(answer.status).toBeLessThan(500);
    expect(links(answer).filter((link) => link.includes(EVIL))).toEqual([]);
    const withTwoSlashes = await sendRaw(fitgraph.url, `GET //${EVIL}${path}`);

    expect(links(withTwoSlashes).filter((link) => link.includes(EVIL))).toEqual([]);
  }
});

test('ignores forwarding headers of untrusted proxies', async () => {
  const headers = ['Host', 'Server', 'Port', 'Prefix', 'Uri', 'Scheme'].map(
    (name) => `X-Forwarded-${name}: ${EVIL}`,
  );
  const more = [
    `Forwarded: host=${EVIL};proto=https`,
    'X-Forwarded-Proto: https',
    `X-Original-URL: /${EVIL}`,
    `X-Rewrite-URL: /${EVIL}`,
    `X-Host: ${EVIL}`,
  ];

  for (const path of LINKED) {
    const plain = await sendRaw(fitgraph.url, `GET ${path}`);
    const answer = await sendRaw(fitgraph.url, `GET ${path}`, [...headers, ...more]);

    expect([answer.status, links(answer)]).toEqual([plain.status, links(plain)]);
    expect(answer.head + answer.body).not.toContain(EVIL);
  }
  // test/web/account/sign-in.test.ts checks that they do not bypass the rate limit of logins.
});

const NEXT = [
  `//${EVIL}`,
  `///${EVIL}`,
  `/\\${EVIL}`,
  `\\\\${EVIL}`,
  `/\\/${EVIL}`,
  `/\t/${EVIL}`,
  `/\n/${EVIL}`,
  `\t//${EVIL}`,
  ` //${EVIL}`,
  `\u0000//${EVIL}`,
  `\u00a0//${EVIL}`,
  `https:${EVIL}`,
  `https:/${EVIL}`,
  `https://${EVIL}`,
  `hTTps://${EVIL}`,
  `http:\\\\${EVIL}`,
  `/.//${EVIL}`,
  `/..//${EVIL}`,
  `/%2e//${EVIL}`,
  `/x/..//${EVIL}`,
  `/x/%2e%2e//${EVIL}`,
  `.${EVIL}`,
  `@${EVIL}`,
  `:80@${EVIL}`,
  `javascript:alert(1)`,
  `java\tscript:alert(1)`,
  `data:text/html,<script>alert(1)</script>`,
  `/\r\nLocation: https://${EVIL}`,
  `/%0d%0aLocation:%20https://${EVIL}`,
  `/\r\n\r\n<script>alert(1)</script>`,
  `/\u2028//${EVIL}`,
  `/\ud800`,
  `/嘊嘍Set-Cookie: x=y`,
];

test('redirects to this site only after a login', async () => {
  const before = new Visitor(fitgraph.url);

  await before.signIn('ann');

  for (const next of NEXT) {
    const visitor = new Visitor(fitgraph.url);
    const form = await visitor.fieldsOf('/login');
    const answers = [
      await visitor.post('/login', { ...form, next, username: 'ann', password: PASSWORD }),
      await before.get(`/login?next=${encodeURIComponent(next.replace('\ud800', ''))}`),
      await before.get(`/login?next=/&next=${encodeURIComponent(next.replace('\ud800', ''))}`),
    ];

    for (const { status, headers } of answers) {
      const location = headers.get('location')!;

      // As browsers parse it, standard-compliant or not.
      expect({ next, status, origin: new URL(location, fitgraph.url).origin }).toEqual({
        next,
        status: 303,
        origin: fitgraph.url,
      });
      expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/);
      expect(new URL(location, `${fitgraph.url}/x/`).pathname).not.toMatch(/^\/[/\\]/);
      expect(headers.get('set-cookie') ?? '').not.toContain('x=y');
    }
  }
});

test('redirects to this site only when a trailing slash is missing', async () => {
  const redirects: string[] = [];

  for (const path of [
    `/api/v2/exercise?//${EVIL}`,
    `/api/v2/exercise?x=%0d%0aSet-Cookie:%20a=b`,
    `/api/v2/exercise?\\${EVIL}`,
    `/api/v2//${EVIL}`,
    `//${EVIL}/api/v2/exercise`,
    `/api/v2/exercise/1%2f%2f${EVIL}`,
    `/api/v2/exercise/${EVIL}`,
    `/api/v2/exercise/%0d%0aX-Evil:%20yes`,
    `/api/v2/exercise/\\\\${EVIL}`,
    `/user//${EVIL}`,
    `//${EVIL}/%2e%2e`,
    `/media//${EVIL}/%2e%2e`,
    `/playground/assets//${EVIL}/%2e%2e`,
  ]) {
    const { status, head } = await sendRaw(fitgraph.url, `GET ${path}`);

    expect(status).toBeLessThan(500);
    const location = /^location: (.*)$/im.exec(head)?.[1];

    if (location !== undefined) {
      expect({ path, origin: new URL(location, fitgraph.url).origin }).toEqual({
        path,
        origin: fitgraph.url,
      });
      redirects.push(path);
    }

    expect(head).not.toMatch(/^(?:set-cookie: a|x-evil)/im);
  }

  // Of these paths, only the ones that lack just a slash are redirected.
  expect(redirects).toEqual([
    `/api/v2/exercise?//${EVIL}`,
    `/api/v2/exercise?x=%0d%0aSet-Cookie:%20a=b`,
    `/api/v2/exercise?\\${EVIL}`,
    `/api/v2/exercise/%0d%0aX-Evil:%20yes`,
  ]);
});

test('sends no header injected by a line break', async () => {
  const breaks = [
    '%0d%0aX-Evil:%20yes',
    '%0aX-Evil:%20yes',
    '%E5%98%8A%E5%98%8DX-Evil:%20yes',
    '%00X-Evil',
  ];

  for (const text of breaks) {
    for (const path of [
      `/api/v2/exercise/?format=${text}`,
      `/api/v2/exercise/?ordering=${text}`,
      `/api/v2/exercise/search/?term=${text}&language=${text}`,
      `/api/v2/workout/1/log_data/?id=${text}`,
      `/login?next=/${text}`,
      `/user/api-key?${text}`,
      `/media/${text}.png`,
      `/${text}`,
    ]) {
      const { status, head } = await sendRaw(fitgraph.url, `GET ${path}`, [
        `Authorization: Token ${ann.token}`,
      ]);

      expect({ path, good: status > 0 && status < 500 }).toEqual({ path, good: true });
      expect(head).not.toMatch(/^x-evil/im);
    }
  }
});

test('sends no Content-Disposition that a request chooses', async () => {
  for (const path of [
    '/api/v2/exercise/1/',
    '/api/v2/schema.json',
    '/media/x.png',
    '/playground',
  ]) {
    expect(
      (await fitgraph.anonymous.send('GET', `${path}?filename=evil.bat`)).headers.get(
        'content-disposition',
      ),
    ).toBeNull();
  }
});
