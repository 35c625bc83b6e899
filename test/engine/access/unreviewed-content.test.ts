/**
 * Content that has not passed review is visible to reviewers only, by any path. REST behaves like
 * the reference service.
 */
import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

// The queries for all nested fields exceed the default limits.
const fitgraph = fitgraphForThisFile({ environment: { MAX_COST: '100000000', BUDGET: 'off' } });
let ann: Person;
let reviewer: Person;

/** Rows of Ann that reference hidden rows. */
const own: Record<string, number> = {};

const HIDDEN_NAMES = /not yet accepted|zz secret|zz declined|zz food/i;
const PENDING = 4;
const DECLINED = 50;
const FOOD = 50;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  reviewer = await fitgraph.user('reviewer', { isSuperuser: true });
  await fitgraph.sql(
    `INSERT INTO "exercise" ("id", "uuid", "name", "status", "description", "language_id", "exercise_base_id")
     VALUES ($1, gen_random_uuid(), 'ZZ declined', '3', 'zz declined description', 1, 1), (51, gen_random_uuid(), 'ZZ secret', '1', 'zz secret description', 1, 1)`,
    [DECLINED],
  );
  await fitgraph.sql(
    `INSERT INTO "exercise_comment" ("exercise_id", "comment") VALUES ($1, 'zz secret comment')`,
    [DECLINED],
  );
  await fitgraph.sql(
    `INSERT INTO "exercise_image" ("uuid", "exercise_base_id", "image", "status") VALUES (gen_random_uuid(), $1, 'exercise-images/4/a.png', '1')`,
    [PENDING],
  );
  await fitgraph.sql(
    `INSERT INTO "ingredient" ("id", "name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
     VALUES ($1, 'ZZ food', '2021-01-01', '2021-01-01', 100, 1, 1, 1, 2, '1')`,
    [FOOD],
  );
  const createRow = async (path: string, body: object) =>
    (await ann.post(path, body)).body.id as number;

  own.workout = await createRow('/workout/', {});
  const day = await createRow('/day/', { training: own.workout, description: 'a', day: [1] });

  own.set = await createRow('/set/', { exerciseday: day, sets: 2 });

  for (const exercise of [PENDING, DECLINED, 1]) {
    own[`setting ${exercise}`] = await createRow('/setting/', {
      set: own.set,
      exercise,
      reps: 5,
      weight: '20',
    });
    await createRow('/workoutlog/', {
      exercise,
      workout: own.workout,
      reps: 5,
      weight: '20',
      date: '2021-03-01',
      repetition_unit: 1,
      weight_unit: 1,
    });
  }

  own.plan = await createRow('/nutritionplan/', {});
  const meal = await createRow('/meal/', { plan: own.plan });

  own.item = await createRow('/mealitem/', { meal, ingredient: FOOD, amount: 100 });
  await createRow('/nutritiondiary/', { plan: own.plan, ingredient: FOOD, amount: 100 });
});

/** Returns a selection of all fields without arguments, `depth` levels deep. */
function allFields(type: GraphQLObjectType, depth: number): string {
  const parts = Object.values(type.getFields()).flatMap(({ name, type: shown, args }) => {
    const named = getNamedType(shown);

    if (args.length && !named.name.endsWith('Connection')) return [];
    if (isLeafType(named)) return [name];

    return depth > 0 && isObjectType(named)
      ? [`${name} { ${allFields(named, named.name.endsWith('Connection') ? depth : depth - 1)} }`]
      : [];
  });

  return ['__typename', ...parts].join(' ');
}

const lists = () => {
  const query = buildGraphQLSchema().getQueryType()!;

  // Accounts are for superusers only.
  return Object.values(query.getFields()).filter(
    ({ name, args, type }) =>
      name !== 'accounts' &&
      args.length > 0 &&
      args.every(({ type: given }) => !isNonNullType(given)) &&
      isObjectType(getNamedType(type)) &&
      getNamedType(type).name.endsWith('Connection'),
  );
};

describe('content that awaits review', () => {
  const names = lists().map(({ name, type }): [string, GraphQLObjectType] => [
    name,
    getNamedType(type) as GraphQLObjectType,
  ]);

  test.each(names)('is absent from %s and its nested fields', async (name, type) => {
    for (const person of [ann, fitgraph.anonymous]) {
      const node = getNamedType(type.getFields().nodes!.type) as GraphQLObjectType;
      const { text, errors } = await person.query(
        `{ ${name}(first: 100) { totalCount nodes { ${allFields(node, 2)} } } }`,
      );

      if (person === ann) expect(errors).toBeUndefined();
      expect(text).not.toMatch(HIDDEN_NAMES);
    }
  });
  test('is searched in more than 15 lists', () => expect(names.length).toBeGreaterThan(15));
});

describe('a hidden exercise', () => {
  const people = () => [ann, fitgraph.anonymous];

  test.each([PENDING, DECLINED])(
    'is found by its ids for reviewers only (exercise %d)',
    async (id) => {
      for (const document of [
        `{ row: exerciseTranslation(id: ${id}) { name } }`,
        `{ row: node(nodeId: "${nodeIdOf('ExerciseTranslation', id)}") { ... on ExerciseTranslation { name } } }`,
      ]) {
        for (const person of people()) {
          expect(await person.ask(document)).toEqual({ row: null });
        }

        expect(await reviewer.ask(document)).toEqual({ row: { name: expect.any(String) } });
      }
    },
  );

  test('is listed in the translations of its exercise for reviewers only', async () => {
    const document = '{ exercise(id: 1) { name translations { name } } }';

    for (const person of people()) {
      expect((await person.ask(document)).exercise).toEqual({
        name: 'Squat',
        translations: [{ name: 'Squat' }],
      });
    }

    const { exercise } = await reviewer.ask(document);

    expect(exercise.translations.map(({ name }: { name: string }) => name)).toEqual([
      'Squat',
      'ZZ declined',
      'ZZ secret',
    ]);
  });

  test('is matched by filters for reviewers only', async () => {
    const bases =
      '{ exercises(where: { translations: { some: { name: { startsWith: "ZZ" } } } }) { totalCount } }';

    for (const person of people()) {
      expect((await person.ask(bases)).exercises.totalCount).toBe(0);
    }

    expect((await reviewer.ask(bases)).exercises.totalCount).toBe(1);
    const plannedSets =
      '{ plannedSets(where: { translation: { name: { ne: "x" } } }) { nodes { translationId } } }';

    expect((await ann.ask(plannedSets)).plannedSets.nodes).toEqual([{ translationId: '1' }]);
  });

  test('is sorted as if its values were null', async () => {
    for (const [direction, ids] of [
      ['ASC', ['1', '4', '50']],
      ['DESC', ['4', '50', '1']],
    ] as const) {
      const document = `query ($after: String) {
        plannedSets(first: 1, after: $after, orderBy: [{ translation: { name: ${direction} } }]) { nodes { translationId } pageInfo { endCursor } } }`;
      const found: string[] = [];

      for (let after: string | null = null, page = 0; page < 3; page += 1) {
        const { plannedSets } = await ann.ask(document, { after });

        found.push(plannedSets.nodes[0].translationId);
        after = plannedSets.pageInfo.endCursor;
      }

      expect(found).toEqual(ids);
    }
  });

  test('is visible by its id in rows of the viewer, over both interfaces', async () => {
    const { plannedSets } = await ann.ask(
      '{ plannedSets { nodes { translationId translation { name } exerciseId exercise { name } } } }',
    );
    const squat = { exerciseId: '1', exercise: { name: 'Squat' } };

    expect(plannedSets.nodes).toEqual([
      { translationId: '4', translation: null, exerciseId: '4', exercise: null },
      { translationId: '50', translation: null, ...squat },
      { translationId: '1', translation: { name: 'Squat' }, ...squat },
    ]);
    expect((await ann.get(`/setting/${own[`setting ${PENDING}`]}/`)).body).toMatchObject({
      exercise: PENDING,
    });
  });

  test('counts in computed fields, which show its details over REST only', async () => {
    const document = `query ($set: ID!) { setGroup(id: $set) {
      summary(exerciseId: ${PENDING}) plannedSets { translation { name comments { comment } } } } }`;
    const { setGroup } = await ann.ask(document, { set: own.set });

    expect(setGroup.summary).not.toBe('');
    expect(setGroup.plannedSets.map(({ translation }: any) => translation)).toEqual([
      null,
      null,
      { name: 'Squat', comments: [{ comment: 'Mind squat.' }] },
    ]);
    const { body } = await ann.get(`/workout/${own.workout}/canonical_representation/`);

    expect(
      body.day_list[0].set_list[0].exercise_list.map(({ obj, comment_list }: any) => [
        obj.name,
        comment_list,
      ]),
    ).toEqual([
      ['Not yet accepted', ['Mind not yet accepted.']],
      ['ZZ declined', ['zz secret comment']],
      ['Squat', ['Mind squat.']],
    ]);
  });

  test('cannot be referenced by new rows over GraphQL, like an unknown one', async () => {
    const create = `mutation ($input: PlannedSetInput!) { made: createPlannedSet(input: $input) { errors { path message } } }`;

    for (const [type, field, id] of [
      ['Exercise', 'exerciseId', PENDING],
      ['Exercise', 'exerciseId', 2_000_000_000],
      ['ExerciseTranslation', 'translationId', PENDING],
      ['ExerciseTranslation', 'translationId', DECLINED],
      ['ExerciseTranslation', 'translationId', 2_000_000_000],
    ]) {
      const { made } = await ann.ask(create, {
        input: { setGroupId: own.set, exerciseId: 1, [field!]: id, reps: 5 },
      });

      expect(made.errors).toEqual([
        { path: ['input', field], message: `There is no ${type} with the id "${id}".` },
      ]);
    }

    expect(
      (await ann.ask(create, { input: { setGroupId: own.set, exerciseId: 1, reps: 5 } })).made
        .errors,
    ).toEqual([]);
    expect(
      (await ann.post('/setting/', { set: own.set, exercise: PENDING, reps: 5, weight: '1' }))
        .status,
    ).toBe(201);
  });

  test('is not found over REST, which still lists its comments', async () => {
    for (const person of [ann, reviewer]) {
      expect((await person.get(`/exercise/${PENDING}/`)).status).toBe(404);
    }

    expect((await ann.get(`/exercisecomment/?exercise=${PENDING}`)).body.count).toBe(1);
  });
});

test('an image shows its hidden exercise to reviewers only', async () => {
  const document = `{ exerciseImages(where: { exerciseId: { eq: ${PENDING} } }) { nodes { exerciseId exercise { id } } } }`;

  expect((await ann.ask(document)).exerciseImages.nodes).toEqual([
    { exerciseId: '4', exercise: null },
  ]);
  expect((await reviewer.ask(document)).exerciseImages.nodes).toEqual([
    { exerciseId: '4', exercise: { id: '4' } },
  ]);
});

test('a hidden ingredient counts in nutritional values', async () => {
  const { mealItem } = await ann.ask(
    'query ($id: ID!) { mealItem(id: $id) { ingredientId ingredient { name } nutritionalValues { energy } } }',
    {
      id: own.item,
    },
  );

  expect(mealItem).toEqual({
    ingredientId: '50',
    ingredient: null,
    nutritionalValues: { energy: '100.00' },
  });
  const { body } = await ann.get(`/nutritionplaninfo/${own.plan}/`);

  expect(body.meals[0].meal_items[0].ingredient_obj).toMatchObject({ name: 'ZZ food' });
});
