/** The REST adapter without a database: HTTP behaviour and the metadata of the schema. */
import { Orchard } from './fruit-service';

const orchard = new Orchard();

beforeAll(() => orchard.open());
afterAll(() => orchard.close());
beforeEach(() => {
  orchard.fruits = ['Cherry', 'Apple', 'Banana'].map((fullName, index) => ({
    id: index + 1,
    fullName,
    pieces: index,
    peeled: index === 2,
  }));
});

const get = (path: string, headers: Record<string, string> = {}) =>
  orchard.anonymous.withHeaders(headers).get(path);
const DETAIL = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';

describe('views', () => {
  test('are listed by the root unless they are unlisted', async () => {
    expect((await get('/')).body).toEqual({
      fruit: 'https://fruit.example.com/api/v2/fruit/',
      'fruit-label': 'https://fruit.example.com/api/v2/fruit-label/',
    });
    expect((await get('/?format=json')).body.fruit).toBe(
      'https://fruit.example.com/api/v2/fruit/?format=json',
    );
    expect((await get('/.json')).body.fruit).toBe('https://fruit.example.com/api/v2/fruit.json');
  });

  test('return the keys of a row in the order of its fields', async () => {
    expect((await get('/fruit/1/')).text).toBe(
      '{"id":1,"full_name":"Cherry","pieces":0,"peeled":false}',
    );
    expect((await get('/fruit-label/1/')).text).toBe('{"label":"Cherry"}');
  });

  test('pass the query to actions and custom endpoints as arguments', async () => {
    expect((await get('/fruit/1/squeezed_juice/?glasses=2')).body).toEqual({ in_millilitres: 400 });
    expect((await get('/fruit/9/squeezed_juice/')).status).toBe(404);
    expect((await get('/fruit/ripest/?colour=red&at_most=3&unknown=x')).body).toEqual([
      'colour red',
      'atMost 3',
    ]);
  });
});

describe('lists', () => {
  const names = async (query: string) =>
    (await get(`/fruit/?${query}`)).body.results.map((row: any) => row.full_name);

  test('are paged, with links to the neighbouring pages', async () => {
    expect((await get('/fruit/?peeled=&offset=1&limit=1&b=2&a=x%20y&a=,')).body).toEqual({
      count: 3,
      next: 'https://fruit.example.com/api/v2/fruit/?a=x+y&a=%2C&b=2&limit=1&offset=2&peeled=',
      previous: 'https://fruit.example.com/api/v2/fruit/?a=x+y&a=%2C&b=2&limit=1&peeled=',
      results: [{ id: 2, full_name: 'Apple', pieces: 1, peeled: false }],
    });
  });

  test('are ordered by known columns, ignoring unknown ones', async () => {
    expect(await names('ordering=full_name')).toEqual(['Apple', 'Banana', 'Cherry']);
    expect(await names('ordering=-full_name')).toEqual(['Cherry', 'Banana', 'Apple']);
    expect(await names('ordering=colour, -full_name')).toEqual(['Cherry', 'Banana', 'Apple']);
    expect(await names('ordering=fullName')).toEqual(['Cherry', 'Apple', 'Banana']);
  });

  test('are filtered by declared fields, ignoring unknown ones', async () => {
    expect(await names('pieces=1')).toEqual(['Apple']);
    expect(await names('full_name=Banana&peeled=True')).toEqual(['Banana']);
    expect(await names('peeled=maybe')).toEqual(['Cherry', 'Apple', 'Banana']);
    expect(await names('colour=red')).toEqual(['Cherry', 'Apple', 'Banana']);
    expect((await get('/fruit/?pieces=many')).body).toEqual({ pieces: ['Enter a number.'] });
  });
});

describe('paths', () => {
  test.each(['GET', 'POST', 'PUT', 'DELETE'])(
    'without a trailing slash redirect %s requests and keep the query',
    async (method) => {
      const answer = await orchard.anonymous.send(method, '/api/v2/fruit?a=b&c');

      expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([
        301,
        '/api/v2/fruit/?a=b&c',
        '',
      ]);

      for (const header of ['allow', 'vary', 'access-control-allow-origin', 'content-type']) {
        expect(answer.headers.get(header)).toBeNull();
      }
    },
  );

  test.each([
    '/api/v2',
    '/api/v2/fruit/1',
    '/api/v2/login',
    '/api/v2/fruit/ripest',
    '/api/v2/fruit/1/squeezed_juice',
  ])('without a trailing slash redirect: %s', async (path) => {
    const answer = await orchard.anonymous.send('GET', path);

    expect([answer.status, answer.headers.get('location')]).toEqual([301, `${path}/`]);
  });

  test.each([
    '/nothing/',
    '/nothing',
    '/fruit/1/nothing/',
    '/fruit//',
    '//fruit/',
    '/fruit/1/squeezed_juice/2/',
    '/FRUIT/',
    '/fruit/.json',
  ])('that do not exist return 404: %s', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, body: { detail: 'Not found.' } });
  });

  test.each([
    ['/nothing/', undefined, 'application/json'],
    ['/nothing/', 'text/html, */*;q=0.8', 'text/html; charset=utf-8'],
    ['/nothing/', 'text/csv', 'text/html; charset=utf-8'],
    ['/nothing/?format=json', 'text/html', 'text/html; charset=utf-8'],
    ['/nothing/?format=api', 'application/json', 'application/json'],
    ['/nothing/?format=xml', 'application/json', 'application/json'],
  ])('that do not exist return 404: %s accepting %s as %s', async (path, accept, type) => {
    const answer = await get(path, accept === undefined ? {} : { Accept: accept });

    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, type]);
  });

  test.each(['abc', '0', '-1', '99999999999999999999', 'a%20b', '%ff'])(
    'with the invalid id %s return 404',
    async (id) => {
      expect(await get(`/fruit/${id}/`)).toMatchObject({
        status: 404,
        body: { detail: 'Not found.' },
      });
    },
  );

  test.each(['01', '%201', '1%20', '+1'])('with the id %j return row 1', async (id) => {
    expect((await get(`/fruit/${id}/`)).body.id).toBe(1);
  });
});

describe('representations', () => {
  const cases: [path: string, accept: string | undefined, status: number, type: string][] = [
    ['/fruit/', undefined, 200, 'application/json'],
    ['/fruit/', '*/*', 200, 'application/json'],
    ['/fruit/', 'application/*', 200, 'application/json'],
    ['/fruit/', 'application/json; version=2', 200, 'application/json'],
    ['/fruit/', 'application/json, text/html', 200, 'application/json'],
    ['/fruit/', 'text/html, application/json', 200, 'application/json'],
    ['/fruit/', 'text/html, application/json; indent=4', 200, 'application/json'],
    ['/fruit/', 'application/json, text/html;level=1', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'application/json;version=2, text/html;level=1', 200, 'application/json'],
    ['/fruit/', 'application/json;q=0.9, text/html;level=1;q=0.8', 200, 'application/json'],
    ['/fruit/', '*/json', 200, 'application/json'],
    ['/fruit/', '*/html', 200, 'text/html; charset=utf-8'],
    ['/fruit/', '*/json, text/html', 200, 'text/html; charset=utf-8'],
    ['/fruit/', '*/csv', 406, 'application/json'],
    ['/fruit/', 'text/html, application/json;q=0.9', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'text/html, */*', 200, 'text/html; charset=utf-8'],
    ['/fruit/', '*/*, text/html', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'text/html', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'text/*', 200, 'text/html; charset=utf-8'],
    [
      '/fruit/',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      200,
      'text/html; charset=utf-8',
    ],
    ['/fruit/', 'application/json;q=0.5, text/html;q=0.4', 200, 'application/json'],
    ['/fruit/', 'application/json;q=0.4, text/html ; Q = 0.5', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'application/json;q=0, */*', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'application/json;q=0.1, */*', 200, 'text/html; charset=utf-8'],
    ['/fruit/', 'TEXT/HTML', 200, 'text/html; charset=utf-8'],
    ['/fruit/', ', application/json ,', 200, 'application/json'],
    ['/fruit/', 'application/json;q=0', 406, 'application/json'],
    ['/fruit/', '*/*;q=0.000', 406, 'application/json'],
    // An Accept header with an invalid quality value is rejected.
    ['/fruit/', 'application/json;q=high', 406, 'application/json'],
    ['/fruit/', 'application/json;q=2', 406, 'application/json'],
    ['/fruit/', 'application/json;q=', 406, 'application/json'],
    ['/fruit/', 'application/json, text/html;q=-1', 406, 'application/json'],
    ['/fruit/', `application/json${';'.repeat(3000)}`, 200, 'application/json'],
    ['/fruit/', `application/json${';indent'.repeat(2000)}`, 406, 'application/json'],
    ['/fruit/', 'text/csv', 406, 'application/json'],
    ['/fruit/', 'application/xml', 406, 'application/json'],
    ['/fruit/', 'nonsense', 406, 'application/json'],
    ['/fruit/?format=json', 'text/html', 406, 'application/json'],
    ['/fruit/?format=api', 'application/json', 406, 'application/json'],
    ['/fruit/?format=api', 'text/html', 200, 'text/html; charset=utf-8'],
    ['/fruit/?format=json', 'text/html, */*', 200, 'application/json'],
    ['/fruit/?format=', '*/*', 200, 'application/json'],
    ['/fruit/?format=xml', '*/*', 404, 'application/json'],
    ['/fruit/?format=JSON', '*/*', 404, 'application/json'],
    ['/fruit/?format=api&format=json', '*/*', 200, 'application/json'],
    ['/fruit.json', '*/*', 200, 'application/json'],
    ['/fruit.json/', '*/*', 200, 'application/json'],
    ['/fruit/1.json', '*/*', 200, 'application/json'],
    ['/fruit.api', 'text/html', 200, 'text/html; charset=utf-8'],
    ['/fruit.json?format=api', '*/*', 200, 'application/json'],
    ['/fruit.json', 'text/html', 406, 'application/json'],
    ['/fruit.xml', '*/*', 404, 'application/json'],
  ];

  test.each(
    cases.map(
      ([path, accept, status, type]) => [path, accept?.slice(0, 70), status, type, accept] as const,
    ),
  )(
    'are negotiated: %s accepting %s returns %d as %s',
    async (path, _shown, status, type, accept) => {
      const answer = await get(path, accept === undefined ? {} : { Accept: accept });

      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);

      if (status === 406) {
        expect(answer.body).toEqual({ detail: 'Could not satisfy the request Accept header.' });
      }
    },
  );

  test('in JSON are indented as the Accept header says, including errors', async () => {
    const answer = await get('/fruit-label/1/', { Accept: 'application/json; indent=2' });

    expect([answer.text, answer.headers.get('content-type')]).toEqual([
      '{\n  "label": "Cherry"\n}',
      'application/json',
    ]);
    expect((await get('/fruit-label/1/', { Accept: 'text/csv, */*;q=0.5; Indent = 2' })).text).toBe(
      '{\n  "label": "Cherry"\n}',
    );
    const indentation = async (indent: string) =>
      / *(?=")/.exec(
        (await get('/fruit-label/1/', { Accept: `application/json; indent=${indent}` })).text.slice(
          2,
        ),
      )![0].length;

    expect(await Promise.all(['"4"', '+3', '" 2 "', '9', '9'.repeat(20)].map(indentation))).toEqual(
      [4, 3, 2, 8, 8],
    );

    for (const indent of ['0', 'x', '', '-1', '"4', '""4""']) {
      expect(
        (await get('/fruit-label/1/', { Accept: `application/json; indent=${indent}` })).text,
      ).toBe('{"label":"Cherry"}');
    }

    expect((await get('/fruit/9/', { Accept: 'application/json; indent=4' })).text).toBe(
      '{\n    "detail": "Not found."\n}',
    );
  });
});

describe('methods', () => {
  test.each([
    ['PUT', '/fruit/', 'GET, POST, HEAD, OPTIONS'],
    ['DELETE', '/fruit/', 'GET, POST, HEAD, OPTIONS'],
    ['POST', '/fruit/1/', DETAIL],
    ['POST', '/fruit-label/', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/fruit-label/1/', 'GET, HEAD, OPTIONS'],
    ['POST', '/fruit/ripest/', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/fruit/1/squeezed_juice/', 'GET, HEAD, OPTIONS'],
    ['POST', '/', 'GET, HEAD, OPTIONS'],
    ['PUT', '/login/', 'GET, POST, OPTIONS'],
    ['HEAD', '/login/', 'GET, POST, OPTIONS'],
  ])('that are not allowed return 405: %s %s', async (method, path, allow) => {
    const answer = await orchard.anonymous.send(method, `/api/v2${path}`);

    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);

    if (method !== 'HEAD') {
      expect(answer.body).toEqual({ detail: `Method "${method}" not allowed.` });
    }
  });

  test('are checked after permissions', async () => {
    const path = '/api/v2/fruit-guarded/1/';

    expect(await orchard.anonymous.send('PUT', path, {})).toMatchObject({
      status: 403,
      body: { detail: 'Authentication credentials were not provided.' },
    });
    expect(
      await orchard.anonymous.withHeaders({ Authorization: 'Token known' }).send('PUT', path, {}),
    ).toMatchObject({
      status: 403,
      body: { detail: 'You do not have permission to perform this action.' },
    });
  });

  test('include HEAD, which returns the headers of GET without a body', async () => {
    for (const path of [
      '/',
      '/fruit/',
      '/fruit/1/',
      '/fruit/9/',
      '/fruit/ripest/',
      '/fruit/1/squeezed_juice/',
    ]) {
      const [head, whole] = [await orchard.anonymous.head(path), await get(path)];

      expect([head.status, head.text]).toEqual([whole.status, '']);

      for (const name of ['content-type', 'content-length', 'allow', 'vary']) {
        expect(head.headers.get(name)).toBe(whole.headers.get(name));
      }
    }
  });
});

describe('response headers', () => {
  test('include Allow, Vary, ETag and security headers', async () => {
    const { headers } = await get('/fruit/1/');
    const responseHeaders = Object.fromEntries([
      ...(headers as unknown as Iterable<[string, string]>),
    ]);

    expect(responseHeaders).toMatchObject({
      allow: DETAIL,
      vary: 'Accept, Accept-Language, Cookie, Origin',
      'content-language': 'en',
      'x-frame-options': 'DENY',
      'x-toy': 'yes',
    });
    expect((await get('/')).headers.get('vary')).toBe('Accept');
    expect([headers.get('etag'), headers.get('cache-control')]).toEqual([
      expect.stringMatching(/^"[^"]+"$/),
      'public, no-cache',
    ]);

    for (const name of ['set-cookie', 'access-control-allow-origin']) {
      expect(headers.get(name)).toBeNull();
    }
  });
});

describe('login', () => {
  test('returns the result of the mutation, and a hint for GET', async () => {
    expect(
      (await orchard.anonymous.post('/login/', { username: 'a', password: 'right' })).body,
    ).toEqual({ token: 'the token' });
    expect(
      await orchard.anonymous.post('/login/', { username: 'a', password: 'wrong' }),
    ).toMatchObject({ status: 401 });
    expect((await get('/login/')).body).toEqual({
      message: "You must send a 'username' and 'password' via POST",
    });
  });
});
