/** Default values of omitted input fields, which the schema describes. */
import { isInputObjectType, isNonNullType, printType } from 'graphql';
import { fieldsOf } from '../../../src/engine/declare/fields';
import { allEntities } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const schema = buildGraphQLSchema();
let ann: Person;
let workoutId: string;
let trainingDayId: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  workoutId = String((await ann.post('/workout/', {})).body.id);
  trainingDayId = String(
    (await ann.post('/day/', { training: Number(workoutId), description: 'Legs', day: [1] })).body
      .id,
  );
});

const inputs = allEntities().flatMap((entity) => {
  const type = schema.getType(`${entity.name}Input`);

  return isInputObjectType(type) ? [{ entity, type }] : [];
});

test('describes every constant default on its create input, and declares none in the schema', () => {
  for (const { entity, type } of inputs) {
    for (const field of fieldsOf(entity).filter(({ readOnly }) => !readOnly)) {
      const input = type.getFields()[field.name]!;

      expect([type.name, field.name, input.defaultValue]).toEqual([
        type.name,
        field.name,
        undefined,
      ]);

      if (typeof field.default === 'function' || field.relation || field.default === undefined) {
        continue;
      }

      const value = Object.entries(field.enum?.type ?? {}).find(
        ([, stored]) => stored === field.default,
      )?.[0];

      expect(input.description).toContain(`\`${value ?? String(field.default)}\` if absent.`);
      expect(isNonNullType(input.type)).toBe(false);
    }
  }

  const descriptions = inputs.map(({ type }) => printType(type)).join();

  for (const text of ['`4` if absent.', '`true` if absent.', '`NEUTRAL` if absent.']) {
    expect(descriptions).toContain(text);
  }
});

test('stores the declared defaults over GraphQL and REST', async () => {
  const made = await ann.ask(
    `mutation ($trainingDayId: ID!, $workoutId: ID!) {
      set: createSetGroup(input: { trainingDayId: $trainingDayId }) { setGroup { sets position } }
      session: createWorkoutSession(input: { workoutId: $workoutId, date: "2021-03-10" }) { workoutSession { impression notes } }
      schedule: createSchedule(input: { name: "x" }) { schedule { isActive isLoop startsOn } }
      plan: createNutritionPlan(input: {}) { nutritionPlan { name hasGoalCalories } } }`,
    { trainingDayId, workoutId },
  );

  expect(made).toEqual({
    set: { setGroup: { sets: 4, position: null } },
    session: { workoutSession: { impression: 'NEUTRAL', notes: null } },
    schedule: {
      schedule: {
        isActive: true,
        isLoop: false,
        startsOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      },
    },
    plan: { nutritionPlan: { name: '', hasGoalCalories: false } },
  });
  const { body } = await ann.post('/set/', { exerciseday: Number(trainingDayId) });

  expect(body.sets).toBe(4);
});

test('rejects null for a field with a default over GraphQL and REST', async () => {
  const { made } = await ann.ask(
    'mutation ($input: SetGroupInput!) { made: createSetGroup(input: $input) { errors { path code message } } }',
    { input: { trainingDayId, sets: null } },
  );

  expect(made.errors).toEqual([
    { path: ['input', 'sets'], code: 'NULL', message: 'This field may not be null.' },
  ]);
  const { status, body } = await ann.post('/set/', {
    exerciseday: Number(trainingDayId),
    sets: null,
  });

  expect([status, body]).toEqual([400, { sets: ['This field may not be null.'] }]);
});

test('leaves omitted fields unchanged on update', async () => {
  const { made } = await ann.ask(
    'mutation { made: createSchedule(input: { name: "y", isActive: false, isLoop: true }) { schedule { id } } }',
  );
  const { one } = await ann.ask(
    'mutation ($id: ID!) { one: updateSchedule(id: $id, input: { name: "z" }) { schedule { name isActive isLoop } } }',
    {
      id: made.schedule.id,
    },
  );

  expect(one.schedule).toEqual({ name: 'z', isActive: false, isLoop: true });
});
