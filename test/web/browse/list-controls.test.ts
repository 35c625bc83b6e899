/** The CSV link on the pages of lists. */
import { findEntity } from '../../../src/engine/declare/registry';
import { endpoints } from '../../setup/rest-endpoints';
import { readFile } from '../../graphql/export/exported';
import { createOwnedRows } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { isListed } from '../../setup/generic-lists';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await createOwnedRows(ann);
  // Accepts all exercises, because in some places REST returns pending ones, but GraphQL does not.
  await fitgraph.sql(`UPDATE "exercise" SET "status" = '2'`);
});

async function linkOn(path: string): Promise<string | undefined> {
  const { text } = await ann.withHeaders({ Accept: 'text/html' }).get(path);

  return /<a href="([^"]*)">CSV<\/a>/.exec(text)?.[1]?.replaceAll('&amp;', '&');
}

const readLinkedFile = async (link: string) =>
  readFile(await fetch(fitgraph.url + link, { headers: { Authorization: `Token ${ann.token}` } }));

test('links a CSV file with as many rows as the list, for every list', async () => {
  const lists = endpoints
    .filter(({ type }) => isListed(findEntity(type.name)!))
    .map(({ view }) => `/${view.restName}/`);

  expect(lists.length).toBeGreaterThan(20);
  const seen: [string, number, number][] = [];
  const expected: typeof seen = [];

  for (const path of lists) {
    const { count } = (await ann.get(`${path}?limit=1`)).body;
    const { status, records } = await readLinkedFile((await linkOn(`${path}?limit=1`))!);

    seen.push([path, status, records.length - 1]);
    expected.push([path, 200, count]);
  }

  expect(seen).toEqual(expected);
});

test('links a CSV file with the filters and the order of the list', async () => {
  for (const comment of ['b', 'a', 'c', 'a']) await ann.post('/workout/', { comment });
  const { text, headers } = await readLinkedFile(
    (await linkOn('/workout/?comment=a&ordering=-id&limit=1&offset=1'))!,
  );
  const { results } = (await ann.get('/workout/?comment=a&ordering=-id')).body;

  expect(
    text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => Number(line.split(',')[0])),
  ).toEqual(results.map(({ id }: { id: number }) => id));
  expect(headers.get('content-disposition')).toBe('attachment; filename="workouts.csv"');
});

test('links no CSV file on pages without a valid list', async () => {
  for (const path of [
    '/',
    '/exercise/1/',
    '/exercise/search/?term=squat',
    '/workout/?creation_date=never',
  ]) {
    const link = await linkOn(path);

    expect([path, link && (await readLinkedFile(link)).status]).toEqual([path, undefined]);
  }
});
