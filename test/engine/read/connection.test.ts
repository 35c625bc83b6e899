/** Invalid list arguments are reported by name at the path of their field, at any depth. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  await ann.post('/weightentry/', { date: '2021-01-01', weight: '80' });
});

const LONG = 'x'.repeat(300);
const MANY_CONDITIONS = Array.from({ length: 201 }, (_, id) => ({ id: { eq: id } }));
const TOO_LONG = {
  path: ['where', 'name', 'search'],
  message: 'Ensure this value has no more than 200 characters.',
};
const TOO_MANY = { path: ['where'], message: 'There are more than 200 conditions.' };
const TOO_MANY_ELEMENTS = {
  path: ['orderBy'],
  message: 'Ensure this list has no more than 50 elements.',
};
const ORDERS = Array.from({ length: 51 }, () => ({ id: 'ASC' }));

const EXERCISES: [string, object, object][] = [
  ['a search text that is too long', { where: { name: { search: LONG } } }, TOO_LONG],
  ['too many conditions', { where: { or: MANY_CONDITIONS } }, TOO_MANY],
  ['too many elements in orderBy', { orderBy: ORDERS }, TOO_MANY_ELEMENTS],
];
const ENTRIES: [string, object, object][] = [
  ['too many conditions', { where: { or: MANY_CONDITIONS } }, TOO_MANY],
  ['too many elements in orderBy', { orderBy: ORDERS }, TOO_MANY_ELEMENTS],
];

const variablesOf = (type: string) => `query ($where: ${type}Where, $orderBy: [${type}Order!])`;
const ARGUMENTS = '(where: $where, orderBy: $orderBy) { nodes { id } }';

async function expectRejection(
  document: string,
  variables: object,
  path: (string | number)[],
  inputError: object,
): Promise<void> {
  const { errors } = await ann.query(document, variables as Record<string, unknown>);

  expect(errors!.map((error) => error.path)).toContainEqual(path);

  for (const { extensions } of errors!) {
    expect(extensions).toEqual({ code: 'BAD_USER_INPUT', inputErrors: [inputError] });
  }
}

describe.each(EXERCISES)('a list with %s', (_name, variables, inputError) => {
  test('is rejected at the root', () =>
    expectRejection(
      `${variablesOf('Exercise')} { exercises${ARGUMENTS} }`,
      variables,
      ['exercises'],
      inputError,
    ));

  test('is rejected below a row', () =>
    expectRejection(
      `${variablesOf('Exercise')} { exerciseCategory(id: 1) { found: exercises${ARGUMENTS} } }`,
      variables,
      ['exerciseCategory', 'found'],
      inputError,
    ));

  test('is rejected below the rows of a list', () =>
    expectRejection(
      `${variablesOf('Exercise')} { exerciseCategories { exercises${ARGUMENTS} } }`,
      variables,
      ['exerciseCategories', 0, 'exercises'],
      inputError,
    ));

  test('is rejected at its own alias next to a valid list', async () => {
    const document = `${variablesOf('Exercise')} { viewer { id } exerciseCategory(id: 1) { good: exercises { nodes { id } } bad: exercises${ARGUMENTS} } }`;

    await expectRejection(document, variables, ['exerciseCategory', 'bad'], inputError);
  });
});

describe.each(ENTRIES)('a list of owned rows with %s', (_name, variables, inputError) => {
  test('is rejected', () =>
    expectRejection(
      `${variablesOf('WeightEntry')} { weightEntries${ARGUMENTS} }`,
      variables,
      ['weightEntries'],
      inputError,
    ));
});

test('rejects a search text that is too long in a list of owned rows', () =>
  expectRejection(
    `${variablesOf('Workout')} { workouts${ARGUMENTS} }`,
    { where: { name: { search: LONG } } },
    ['workouts'],
    TOO_LONG,
  ));
