/** Columns of the CSV files that list pages link to. */
import { fitgraphForThisFile } from '../../../setup/fitgraph';
import { readFile, type File } from '../../../graphql/export/exported';
import type { Person } from '../../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const { id: workout } = (await ann.post('/workout/', { comment: 'Push' })).body;
  const log = { workout, exercise: 1, date: '2025-01-01', weight: '62.5', reps: 5 };

  expect((await ann.post('/workoutlog/', log)).status).toBe(201);
});

async function linkedFile(path: string, label = 'CSV', delimiter = ','): Promise<File> {
  const { text } = await ann.withHeaders({ Accept: 'text/html' }).get(path);
  const link = new RegExp(`<a href="([^"]*)">\\s*${label}\\s*</a>`).exec(text)![1]!;
  const headers = { Authorization: `Token ${ann.token}` };

  return readFile(
    await fetch(fitgraph.url + link.replaceAll('&amp;', '&'), { headers }),
    delimiter,
  );
}

const rowOf = ({ records: [names, values] }: File) =>
  Object.fromEntries(names!.map((name, index) => [name, values![index]]));

test('have the names of related rows beside their ids', async () => {
  const file = await linkedFile('/workoutlog/');

  expect(rowOf(file)).toMatchObject({
    translation_id: '1',
    'translation.name': 'Squat',
    'workout.name': 'Push',
    weight: '62.50',
    weight_unit_id: '1',
    'weight_unit.name': 'kg',
    mass_unit: 'KG',
  });
});

test('have the names of several related rows in one cell', async () => {
  const row = rowOf(await linkedFile('/exercise/?name=squat'));

  expect(row).toMatchObject({
    name: 'Squat',
    'category.name': 'Legs',
    muscle_ids: '2',
    'muscles.name': 'Quadriceps femoris',
    'muscles_secondary.name': 'Biceps brachii; Rectus abdominis',
  });
});

test('have the unit of a body weight, which REST hides', async () => {
  await ann.post('/weightentry/', { date: '2025-01-01', weight: '80' });
  expect(rowOf(await linkedFile('/weightentry/'))).toMatchObject({ weight: '80.00', unit: 'KG' });
});

test('are of the filtered rows only', async () => {
  const { id } = (await ann.post('/workout/', { comment: 'Unused' })).body;
  const recordsOf = async (path: string) => (await linkedFile(path)).records.slice(1);

  const grams = async (query: string) => {
    const { records } = await linkedFile(`/ingredientweightunit/?${query}`);

    return records.slice(1).map((record) => record[records[0]!.indexOf('gram')]);
  };

  expect(await recordsOf('/workoutlog/')).toHaveLength(1);
  expect(await recordsOf(`/workoutlog/?workout=${id}`)).toEqual([]);
  expect(await grams('gram=102')).toEqual(['102']);
  const descending = await grams('ordering=-gram');

  expect(descending.length).toBeGreaterThan(1);
  expect(descending).toEqual(descending.toSorted((a, b) => Number(b) - Number(a)));
});

test('keep the nested rows of views that have them', async () => {
  expect(rowOf(await linkedFile('/exerciseinfo/?name=squat'))).toMatchObject({
    'category.name': 'Legs',
    'muscles.name': 'Quadriceps femoris',
  });
});

test('are separated by semicolons, with decimal commas, in the file for other languages', async () => {
  const label = 'CSV with semicolons and decimal commas';
  const { text } = await linkedFile('/workoutlog/', label, ';');
  const [header, line] = text.split('\r\n');

  expect(header).toMatch(/^\uFEFFid;reps;weight;/);
  expect(line).toMatch(/^\d+;5;62,50;2025-01-01;/);
});
