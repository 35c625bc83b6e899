/** The Sequelize associations that are derived from the metadata of fields. */
import type { Transaction } from 'sequelize';
import type { Model, ModelCtor } from 'sequelize-typescript';
import { childRowsFieldsOf, fieldsOf } from '../../src/core/model/fields';
import { allEntities } from '../../src/core/model/registry';
import { DayOfWeek } from '../../src/resources/dayofweek';
import { Equipment } from '../../src/resources/equipment';
import { Exercise } from '../../src/resources/exercise';
import { ExerciseBase } from '../../src/resources/exercisebase';
import { Muscle } from '../../src/resources/muscle';
import { PlannedSet } from '../../src/resources/plannedset';
import { TrainingDay } from '../../src/resources/trainingday';
import { User } from '../../src/resources/user';
import { Workout } from '../../src/resources/workout';
import { SetGroup } from '../../src/resources/setgroup';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let workoutId: number;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const createRow = async (path: string, body: object): Promise<number> =>
    (await ann.post(path, body)).body.id;
  workoutId = await createRow('/workout/', { comment: 'Full body' });
  await createRow('/workout/', { comment: 'Empty' });
  for (const day of [1, 3]) {
    const training = await createRow('/day/', {
      training: workoutId,
      description: `Day ${day}`,
      day: [day, day + 1],
    });
    const set = await createRow('/set/', { exerciseday: training, sets: day, order: 1 });
    await createRow('/setting/', { set, exercise: 1, reps: 8, weight: '12.50' });
  }
});

const plain = (rows: readonly Model[]): any[] => rows.map((row) => row.get({ plain: true }));
const countStatements = () => {
  const statements: string[] = [];
  return { statements, logging: (text: string) => void statements.push(text) };
};

/** Runs `work` with Ann as the session user, so that row-level security shows only her rows. */
async function inTransactionOfAnn<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const session = fitgraph.database.createSession();
  session.setClient('users', ann.id);
  return session.transaction(work);
}

test('reads a workout with its days, set groups and planned sets in one statement', async () => {
  const { statements, logging } = countStatements();
  const found = await inTransactionOfAnn((transaction) =>
    Workout.findAll({
      transaction,
      attributes: ['id', 'name'],
      include: [
        {
          model: TrainingDay,
          attributes: ['name'],
          include: [
            {
              model: SetGroup,
              attributes: ['sets'],
              include: [{ model: PlannedSet, attributes: ['targetWeight'] }],
            },
          ],
        },
      ],
      order: ['id', ['days', 'id', 'ASC']],
      logging,
    }),
  );
  expect(statements).toHaveLength(1);
  const plannedSets = [{ targetWeight: '12.50' }];
  expect(plain(found)).toEqual([
    {
      id: workoutId,
      name: 'Full body',
      days: [
        { name: 'Day 1', setGroups: [{ sets: 1, plannedSets }] },
        { name: 'Day 3', setGroups: [{ sets: 3, plannedSets }] },
      ],
    },
    { id: expect.any(Number), name: 'Empty', days: [] },
  ]);
});

test('includes children without explicit attributes or aliases', async () => {
  const [found] = await inTransactionOfAnn((transaction) =>
    Workout.findAll({
      where: { id: workoutId },
      include: [{ model: TrainingDay, include: [SetGroup] }],
      transaction,
    }),
  );
  expect(found!.days.map(({ setGroups }) => setGroups.map(({ sets }) => sets)).sort()).toEqual([
    [1],
    [3],
  ]);
});

test('includes the parent and its ancestors', async () => {
  const found = await inTransactionOfAnn((transaction) =>
    SetGroup.findOne({
      where: { sets: 3 },
      include: [{ model: TrainingDay, include: [{ model: Workout, include: [User] }] }],
      transaction,
    }),
  );
  expect(found!.get({ plain: true })).toMatchObject({
    trainingDay: { name: 'Day 3', workout: { user: { username: 'ann' } } },
  });
});

test('includes many-to-many links from either side', async () => {
  const days = await inTransactionOfAnn((transaction) =>
    TrainingDay.findAll({
      transaction,
      attributes: ['name'],
      include: [{ model: DayOfWeek, attributes: ['id'], through: { attributes: [] } }],
      order: ['id', ['weekdayRows', 'id', 'ASC']],
    }),
  );
  expect(plain(days)).toEqual([
    { name: 'Day 1', weekdayRows: [{ id: 1 }, { id: 2 }] },
    { name: 'Day 3', weekdayRows: [{ id: 3 }, { id: 4 }] },
  ]);
  const exercises = await fitgraph.anonymous.query(
    '{ exercises(first: 100) { nodes { id exerciseBaseId muscleIds muscleSecondaryIds equipmentIds } } }',
  );
  const nodes: Record<string, any>[] = exercises.data.exercises.nodes;
  expect(nodes.length).toBeGreaterThan(2);
  const include = [
    { model: Muscle, as: 'muscles' },
    { model: Muscle, as: 'musclesSecondary' },
    Equipment,
  ];
  const [bases, translations] = [
    plain(await ExerciseBase.findAll({ include })),
    plain(await Exercise.findAll({ include })),
  ];
  const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => String(id)).sort();
  for (const { id, exerciseBaseId, muscleIds, muscleSecondaryIds, equipmentIds } of nodes) {
    const linked = [muscleIds, muscleSecondaryIds, equipmentIds].map((some: string[]) =>
      [...some].sort(),
    );
    const base = bases.find((row) => row.id === Number(exerciseBaseId))!;
    const translation = translations.find((row) => row.id === Number(id))!;
    for (const { muscles, musclesSecondary, equipment } of [base, translation])
      expect([muscles, musclesSecondary, equipment].map(ids)).toEqual(linked);
  }
  const secondary = plain(
    await Muscle.findAll({ include: [{ model: Exercise, as: 'exercisesSecondary' }] }),
  );
  for (const muscle of secondary) {
    const exercisesOfMuscle = nodes.filter(({ muscleSecondaryIds }) =>
      muscleSecondaryIds.includes(String(muscle.id)),
    );
    expect(ids(muscle.exercisesSecondary)).toEqual(
      expect.arrayContaining(ids(exercisesOfMuscle as { id: number }[])),
    );
  }
});

/** Relations without an association, because they are computed from another row or from several columns. */
const COMPUTED = [
  'Exercise.category',
  'Exercise.baseLicense',
  'Exercise.variations',
  'ExerciseComment.language',
];

test('provides a readable association for every reference, link and child list except computed ones', async () => {
  const missing: string[] = [];
  let read = 0;
  for (const entity of allEntities()) {
    const model = entity as ModelCtor;
    const references = fieldsOf(entity).flatMap(({ relation }) => relation?.objectFieldName ?? []);
    const childNames = childRowsFieldsOf(entity).map(({ name }) => name);
    expect(
      Object.keys(model.associations).filter(
        (name) => ![...references, ...childNames].includes(name),
      ),
    ).toEqual([]);
    for (const name of [...references, ...childNames]) {
      if (!model.associations[name]) missing.push(`${entity.name}.${name}`);
      else {
        await model.findAll({ include: [{ association: name }], limit: 2 });
        read += 1;
      }
    }
  }
  expect(missing.sort()).toEqual(
    [...COMPUTED, 'ExerciseCategory.exercises', 'WorkoutLog.session', 'WorkoutSession.logs'].sort(),
  );
  expect(read).toBeGreaterThan(60);
});
