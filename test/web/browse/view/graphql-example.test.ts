/** The panel "This as GraphQL": its operation, sent to `/graphql`, returns the data of the page. */
import { fieldsOf } from '../../../../src/engine/declare/fields';
import { allEntities, findEntity } from '../../../../src/engine/declare/registry';
import { endpoints } from '../../../setup/rest-endpoints';
import { createOwnedRows } from '../../../setup/owned-rows';
import { fitgraphForThisFile } from '../../../setup/fitgraph';
import { isListed } from '../../../setup/generic-lists';
import type { Person } from '../../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await createOwnedRows(ann);
  // Accepts all exercises, because in some places REST returns pending ones, but GraphQL does not.
  await fitgraph.sql(`UPDATE "exercise" SET "status" = '2'`);
});

const unescaped = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const isEntry = (value: unknown) =>
  value !== null && typeof value === 'object' && Object.keys(value).join() === 'key,value';

/** Maps the names of GraphQL enum values to the stored values, which REST returns. */
const STORED: Readonly<Record<string, string | number>> = Object.assign(
  {},
  ...allEntities().flatMap((entity) => fieldsOf(entity).map((field) => field.enum?.type ?? {})),
);

const DECIMAL = /^-?\d+\.\d+$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Removes differences of representation: GraphQL has ids as strings, choices as enum values, and
 * maps as lists of entries.
 */
const normalized = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (key, one) => {
      // REST returns the version in a header.
      if (key === 'version') return undefined;
      if (typeof one === 'number') return String(one);
      // Nutritional values have two decimal places in GraphQL and are numbers in REST.
      if (typeof one === 'string' && DECIMAL.test(one)) return String(Number(one));

      // Moments are in UTC in GraphQL and in the time zone of the server in REST.
      if (typeof one === 'string' && TIMESTAMP.test(one)) return new Date(one).toISOString();

      // Drawings of muscles are paths in REST and absolute URLs in GraphQL.
      if (typeof one === 'string' && one.startsWith(`${fitgraph.url}/static/`)) {
        return one.slice(fitgraph.url.length);
      }

      if (typeof one === 'string') return String(STORED[one] ?? one);

      return Array.isArray(one) && one.length && one.every(isEntry)
        ? Object.fromEntries(one.map(({ key, value: inner }) => [key, inner]))
        : one;
    }),
  );

/** Keys that only REST returns. */
const REST_ONLY_KEYS = ['ro_access', 'user', 'days_of_week'];
const withoutRestOnlyKeys = (body: unknown) =>
  JSON.parse(
    JSON.stringify(body, (key, value) => (REST_ONLY_KEYS.includes(key) ? undefined : value)),
  );

async function panelOf(
  path: string,
): Promise<{ query: string; variables: Record<string, unknown> }> {
  const { text } = await ann.withHeaders({ Accept: 'text/html' }).send('GET', path);
  const link = unescaped(
    /<a class="button plain" href="([^"]*)">Open in the playground/.exec(text)![1]!,
  );
  const { searchParams } = new URL(link, fitgraph.url);

  return {
    query: searchParams.get('query')!,
    variables: JSON.parse(searchParams.get('variables')!),
  };
}

/** The endpoints whose rows GraphQL lists, too. */
const listed = endpoints.filter(({ type }) => isListed(findEntity(type.name)!));

/** Compares an unpaged GraphQL list with one page of REST. */
function expectAmong(
  list: unknown[],
  { count, results }: { count: number; results: unknown[] },
): void {
  expect(list).toHaveLength(count);
  expect(results.length).toBeGreaterThan(0);
  expect(list.map(normalized)).toEqual(expect.arrayContaining(results.map(normalized)));
}

async function expectSame(path: string): Promise<void> {
  const { query, variables } = await panelOf(path);
  const data = await ann.ask(query, variables);
  const { body } = await ann.send('GET', path);

  if (Array.isArray(data.page)) return expectAmong(data.page, body);
  const graphqlData = data.page
    ? { count: data.page.totalCount, results: data.page.nodes }
    : (data.row?.action ?? data.row);
  const { next: _next, previous: _previous, ...rest } = withoutRestOnlyKeys(body);

  expect(normalized(graphqlData)).toEqual(normalized(rest));
}

it.each(listed.map(({ view }) => view.restName))(
  'shows an operation with the same data for %s and its rows',
  async (rest) => {
    const list = `/api/v2/${rest}/`;

    await expectSame(`${list}?limit=2&ordering=-id`);
    const [row] = (await ann.send('GET', list)).body.results;

    await expectSame(`${list}${row.id}/`);
  },
);

it('shows an operation with the same data for the second page of a filtered list', () =>
  expectSame(
    '/api/v2/exercise/?language=2&muscles=1&muscles=3&ordering=-name,id&limit=1&offset=1',
  ));

it('shows an operation with the same data for training days filtered by weekday', () =>
  expectSame('/api/v2/day/?day=1'));

it.each(['gram=101', 'ordering=-gram', 'ordering=-unit'])(
  'shows an operation with the same data for fields with another name: ingredientweightunit/?%s',
  (query) => expectSame(`/api/v2/ingredientweightunit/?${query}`),
);

it('keeps the filter of an empty list', async () => {
  const { id } = (await ann.post('/workout/', { comment: 'Unused' })).body;
  const { variables } = await panelOf(`/api/v2/workoutlog/?workout=${id}`);

  expect(variables.where).toEqual({ workoutId: { eq: String(id) } });
});

it('shows an operation with the same data for the values of a nutrition plan', () =>
  expectSame('/api/v2/nutritionplan/1/nutritional_values/'));

it.each([
  'nutritionplan/1/log_summary/',
  'workout/1/canonical_representation/',
  'workout/1/log_data/?id=1',
  'ingredient/1/get_values/?amount=1',
  'exercise/search/?term=squat',
  'version/',
  'daysofweek/',
  'weightentry/?ordering=user',
  'equipment/?name=Barbell',
])('shows no operation when only REST has it: %s', async (path) => {
  const { status, text } = await ann
    .withHeaders({ Accept: 'text/html' })
    .send('GET', `/api/v2/${path}`);

  expect([status, text.includes('Open in the playground')]).toEqual([200, false]);
});
