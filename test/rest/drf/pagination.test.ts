/** Limit and offset, and the links to neighbouring pages. */
import {
  withQueryParameters,
  buildListResponse,
  parsePageWindow,
} from '../../../src/rest/drf/pagination';

const window = (query: string) => parsePageWindow(new URLSearchParams(query));

test.each([
  ['', 20, 0],
  ['limit=5&offset=10', 5, 10],
  ['limit=0', 20, 0],
  ['limit=-1', 20, 0],
  ['limit=', 20, 0],
  ['limit=five', 20, 0],
  ['limit=2.5', 20, 0],
  ['limit=1_0', 20, 0],
  ['limit=%205', 5, 0],
  ['limit=%2B5', 5, 0],
  ['limit=07', 7, 0],
  ['limit=3&limit=4', 4, 0],
  ['limit=10000', 10_000, 0],
  ['limit=10001', 10_000, 0],
  ['limit=99999999999999999999', 10_000, 0],
  ['offset=-1', 20, 0],
  ['offset=x', 20, 0],
  ['offset=99999999999999999999', 20, 2_147_483_647],
  ['page=3', 20, 0],
])('parses %j as limit %d and offset %d', (query, limit, offset) => {
  expect(window(query)).toEqual({ limit, offset });
});

/** Returns the links to the next and the previous page, in a list of 45 rows. */
function links(query: string): [string | null, string | null] {
  const parameters = new URLSearchParams(query);
  const { next, previous } = buildListResponse(
    'http://x/',
    parameters,
    parsePageWindow(parameters),
    45,
    [],
  );

  return [next, previous];
}

test.each<[string, string | null, string | null]>([
  ['', 'http://x/?limit=20&offset=20', null],
  ['offset=20', 'http://x/?limit=20&offset=40', 'http://x/?limit=20'],
  ['offset=5', 'http://x/?limit=20&offset=25', 'http://x/?limit=20'],
  ['offset=40', null, 'http://x/?limit=20&offset=20'],
  ['offset=25', null, 'http://x/?limit=20&offset=5'],
  ['limit=45', null, null],
  ['limit=44', 'http://x/?limit=44&offset=44', null],
  ['offset=1000', null, 'http://x/?limit=20&offset=980'],
  ['limit=x&offset=x', 'http://x/?limit=20&offset=20', null],
])('returns for %j the links next %j and previous %j', (query, next, previous) => {
  expect(links(query)).toEqual([next, previous]);
});

test('keeps all parameters in links, sorted by key and encoded again', () => {
  const query = new URLSearchParams(
    "b=2&a=z&a=,&blank=&x=a%20b&u=ä&special=~!'()*-._&limit=1&limit=2&offset=1&offset=0",
  );

  expect(withQueryParameters('http://x/', query, { limit: '2', offset: '2' })).toBe(
    'http://x/?a=z&a=%2C&b=2&blank=&limit=2&offset=2&special=~%21%27%28%29%2A-._&u=%C3%A4&x=a+b',
  );
  expect(withQueryParameters('http://x/', new URLSearchParams('offset=3'), { offset: null })).toBe(
    'http://x/',
  );
});

test('returns the count, the links and the results of a page', () => {
  const query = new URLSearchParams('limit=2');

  expect(buildListResponse('http://x/', query, parsePageWindow(query), 3, ['a', 'b'])).toEqual({
    count: 3,
    next: 'http://x/?limit=2&offset=2',
    previous: null,
    results: ['a', 'b'],
  });
});
