/**
 * Catalogue names are sorted by a collation in GraphQL, as readers expect, and by bytes in REST.
 */
import { DatabaseSession } from '../../../src/database/session';
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

/**
 * Names in the order of the collation: accents and case decide only between otherwise equal names.
 */
const COLLATED_NAMES = [
  'apfel',
  'Apfel',
  'äpfel',
  'Äpfel',
  'banana',
  'Birne',
  'Eclair',
  'éclair',
  'Éclair',
  'öl',
  'Zebra',
  'zebra crossing',
];
const bytes = (names: readonly string[]) =>
  [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const MIXED = [...COLLATED_NAMES.slice(7), ...COLLATED_NAMES.slice(0, 7)].reverse();

beforeAll(async () => {
  await fitgraph.sql('DELETE FROM "ingredient"');

  for (const name of MIXED) {
    await fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status", "license_author")
       VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2', $1)`,
      [name],
    );
    await fitgraph.sql(
      `INSERT INTO "exercise" ("uuid", "name", "status", "description", "language_id", "exercise_base_id", "license_author")
       VALUES (gen_random_uuid(), $1, '2', 'How it is done.', 1, 2, 'Ann')`,
      [name],
    );

    for (const table of [
      'muscle',
      'equipment',
      'exercise_category',
      'repetition_unit',
      'weight_unit',
    ]) {
      await fitgraph.sql(`INSERT INTO "${table}" ("name") VALUES ($1)`, [name]);
    }

    await fitgraph.sql(`INSERT INTO "household_unit" ("language_id", "name") VALUES (2, $1)`, [
      name,
    ]);
    await fitgraph.sql(`INSERT INTO "language" ("short_name", "full_name") VALUES ('xx', $1)`, [
      name,
    ]);
    await fitgraph.sql(`INSERT INTO "license" ("short_name", "full_name") VALUES ('xx', $1)`, [
      name,
    ]);
  }

  await fitgraph.sql(
    `INSERT INTO "exercise_base_muscle" SELECT 1, "id", false FROM "muscle" WHERE "id" > 3`,
  );
  await fitgraph.sql(
    `INSERT INTO "exercise_base_equipment" SELECT 2, "id" FROM "equipment" WHERE "id" > 2`,
  );
});

const knownNames = (names: string[]) => names.filter((name) => COLLATED_NAMES.includes(name));

const page = async (many: string, args: string, field = 'name') => {
  const { list } = await fitgraph.anonymous.ask(
    `{ list: ${many}(${args}) { nodes { value: ${field} } } }`,
  );

  return knownNames(list.nodes.map(({ value }: { value: string }) => value));
};

test.each(['ingredients', 'exerciseTranslations', 'householdUnits'])(
  'sorts pages of %s by collation',
  async (many) => {
    expect(await page(many, 'first: 100')).toEqual(COLLATED_NAMES);
    expect(await page(many, `first: 100, orderBy: [{ name: ASC }]`)).toEqual(COLLATED_NAMES);
    expect(await page(many, `first: 100, orderBy: [{ name: DESC }]`)).toEqual(
      [...COLLATED_NAMES].reverse(),
    );
  },
);

const DICTIONARIES: [many: string, field: string][] = [
  ['muscles', 'name'],
  ['equipmentList', 'name'],
  ['exerciseCategories', 'name'],
  ['repetitionUnits', 'name'],
  ['weightUnits', 'name'],
  ['languages', 'fullName'],
  ['licenses', 'fullName'],
];

test.each(DICTIONARIES)('sorts the complete list of %s by collation', async (many, field) => {
  const { list } = await fitgraph.anonymous.ask(`{ list: ${many} { value: ${field} } }`);

  expect(knownNames(list.map(({ value }: { value: string }) => value))).toEqual(COLLATED_NAMES);
});

test('sorts other texts of the catalogue by collation', async () => {
  expect(await page('ingredients', 'first: 100, orderBy: [{ licenseAuthor: ASC }]')).toEqual(
    COLLATED_NAMES,
  );
});

test.each(['ASC', 'DESC'])(
  'pages by name from both ends in collation order (%s)',
  async (direction) => {
    const expected = direction === 'ASC' ? COLLATED_NAMES : [...COLLATED_NAMES].reverse();
    const document = `query ($first: Int, $after: String, $last: Int, $before: String) {
    page: ingredients(first: $first, after: $after, last: $last, before: $before, orderBy: [{ name: ${direction} }]) {
      nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
    const names = (nodes: { name: string }[]) => nodes.map(({ name }) => name);

    for (const size of [1, 2, 5]) {
      const [forward, backward]: [string[], string[]] = [[], []];

      for (let after: string | null = null, more = true; more;) {
        const { nodes, pageInfo }: any = (
          await fitgraph.anonymous.ask(document, { first: size, after })
        ).page;

        forward.push(...names(nodes));
        after = pageInfo.endCursor;
        more = pageInfo.hasNextPage;
      }

      for (let before: string | null = null, more = true; more;) {
        const { nodes, pageInfo }: any = (
          await fitgraph.anonymous.ask(document, { last: size, before })
        ).page;

        backward.unshift(...names(nodes));
        before = pageInfo.startCursor;
        more = pageInfo.hasPreviousPage;
      }

      expect([forward, backward]).toEqual([expected, expected]);
    }
  },
);

test('sorts by the name of a referenced row in collation order', async () => {
  await fitgraph.sql(
    `INSERT INTO "ingredient_unit" ("ingredient_id", "unit_id", "gram") SELECT i."id", 1, 1 FROM "ingredient" i`,
  );
  const { list } = await fitgraph.anonymous.ask(
    '{ list: ingredientUnits(first: 100, orderBy: [{ ingredient: { name: ASC } }]) { nodes { ingredient { name } } } }',
  );

  expect(list.nodes.map((node: any) => node.ingredient.name)).toEqual(COLLATED_NAMES);
});

test('sorts nested lists, linked rows and equal search results by collation', async () => {
  const { exercise, language, exercises, found } = await fitgraph.anonymous.ask(`{
    exercise(id: 1) { muscles { name } muscleIds }
    language(id: 1) { exerciseTranslations(first: 100) { nodes { name } } }
    exercises(first: 1, where: { id: { eq: 2 } }) { nodes { equipment { name } equipmentIds } }
    found: ingredients(where: { name: { search: "zebra" } }) { nodes { name } }
  }`);
  const names = (list: { name: string }[]) => knownNames(list.map(({ name }) => name));

  expect(names(exercise.muscles)).toEqual(COLLATED_NAMES);
  expect(names(language.exerciseTranslations.nodes)).toEqual(COLLATED_NAMES);
  expect(names(exercises.nodes[0].equipment)).toEqual(COLLATED_NAMES);
  expect(names(found.nodes)).toEqual(['Zebra', 'zebra crossing']);
});

test('sorts lists and sets of ids by bytes over REST', async () => {
  for (const path of [
    '/ingredient/?limit=100',
    '/ingredient/?limit=100&ordering=name',
    '/exercise/?limit=100&language=1',
    '/muscle/?limit=100',
  ]) {
    const { body } = await fitgraph.anonymous.get(path);

    expect([path, knownNames(body.results.map(({ name }: { name: string }) => name))]).toEqual([
      path,
      bytes(COLLATED_NAMES),
    ]);
  }

  const names = new Map(
    (await fitgraph.sql('SELECT "id", "name" FROM "muscle"')).map(({ id, name }) => [id, name]),
  );

  // Alternates between the APIs to detect an order that is cached for one and used for the other.
  for (let turn = 0; turn < 2; turn += 1) {
    const { body } = await fitgraph.anonymous.get('/exercise/1/');

    expect(knownNames(body.muscles.map((id: number) => names.get(id)))).toEqual(
      bytes(COLLATED_NAMES),
    );
    const { exercise } = await fitgraph.anonymous.ask('{ exercise(id: 1) { muscleIds } }');

    expect(knownNames(exercise.muscleIds.map((id: string) => names.get(Number(id))))).toEqual(
      COLLATED_NAMES,
    );
  }
});

test('rejects a cursor of the byte order', async () => {
  const after = Buffer.from(JSON.stringify(['name,id', 'Apfel', 1])).toString('base64url');
  const { errors } = await fitgraph.anonymous.query(
    'query ($after: String) { ingredients(after: $after) { nodes { name } } }',
    { after },
  );

  expect(errors![0]!.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    inputErrors: [
      { path: ['after'], message: 'This cursor belongs to a different order or search.' },
    ],
  });
});

test('reads first, next and last pages by the collation index', async () => {
  await fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
     SELECT 'Crisp ' || i % 997 || ' ' || i, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 2, '2' FROM generate_series(1, 8000) i`,
  );
  await fitgraph.sql('ANALYZE "ingredient"');
  const { pool } = fitgraph.database;
  const sent: Parameters<DatabaseSession['query']>[] = [];
  const querySpy = jest.spyOn(DatabaseSession.prototype, 'query');
  const document =
    'query ($after: String) { ingredients(first: 50, after: $after) { nodes { name } pageInfo { endCursor } } }';

  try {
    const { ingredients } = await fitgraph.anonymous.ask(document);

    await fitgraph.anonymous.ask(document, { after: ingredients.pageInfo.endCursor });
    await fitgraph.anonymous.ask('{ ingredients(last: 50) { nodes { name } } }');
    sent.push(...querySpy.mock.calls);
  } finally {
    querySpy.mockRestore();
  }

  const pages = sent.filter(([text]) => text.includes('"ingredient"'));

  expect(pages).toHaveLength(3);

  for (const [text, values] of pages) {
    const plan = JSON.stringify((await pool.query(`EXPLAIN ${text}`, values)).rows);

    expect(plan).toContain('ingredient_name_reader');
    expect(plan).not.toContain('Seq Scan on ingredient');
  }
});
