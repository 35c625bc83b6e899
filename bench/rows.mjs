/**
 * The rows of the benchmark: requests, the servers that answer them, and the wanted ratios of
 * requests per second.
 *
 * A row has `name`, `fitgraph` (the request) and optionally `handWritten` and `postgraphile` (the
 * request of that server). A request is an object, or a function that returns a new one each time.
 * `wanted` has the ratio to each of these servers. `isCold`: Fitgraph keeps no finished answers.
 * `isInQuick`: part of a quick run. `isOpenLoop`: also measured at a fixed rate. `connections`: their number in the closed loop, 16 unless given. `toSameShape`
 * converts the data of PostGraphile to that of Fitgraph, `comparable` the text of an answer to one
 * that is equal for all servers.
 */
import { READER_TOKEN, WRITER_TOKEN } from './data.mjs';
import { documentOf } from './large-document.mjs';
import { BASE } from './service.mjs';

const CONNECTIONS = 16;

/** Connections for requests that take long, so that none of them times out. */
const FEW = { connections: 4 };

const UNCHANGED = 5;
const NOT_MODIFIED = 8;
const COLD = 0.9;
const NESTED = 0.75;
const PRIVATE = 0.85;
const WRITE = 0.7;

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' };
const tokenHeader = (token) => ({ authorization: `Token ${token}` });
const READER = tokenHeader(READER_TOKEN);
const WRITER = tokenHeader(WRITER_TOKEN);

const get = (path, headers) => ({
  method: 'GET',
  path: `/api/v2/${path}`,
  headers: { accept: 'application/json', ...headers },
});
const send = (method, path, body, headers) => ({
  method,
  path,
  headers: { ...JSON_HEADERS, ...headers },
  body: JSON.stringify(body),
});
const graphql = (body, headers) => send('POST', '/graphql', body, headers);

const SCALARS = 'id uuid name description licenseAuthor createdOn';
const DOCUMENTS = {
  Row: `query Row($id: ID!) { exerciseTranslation(id: $id) { ${SCALARS} } }`,
  Scalars: `query Scalars($first: Int) { exerciseTranslations(first: $first, orderBy: [{ id: ASC }]) { nodes { ${SCALARS} } } }`,
  Nested: `query Nested($first: Int) { exerciseTranslations(first: $first, orderBy: [{ id: ASC }]) { nodes { id name category { name } muscles { name } equipment { name } images { image isMain } } } }`,
  Own: 'query Own($first: Int) { weightEntries(first: $first) { nodes { id date weight } } }',
  Page: 'query Page($first: Int, $after: String) { workoutLogs(first: $first, after: $after) { nodes { id date reps weight } } }',
  Groups:
    'query Groups { workoutLogsGrouped(groupBy: [{ field: EXERCISE }, { date: { by: MONTH } }]) { keys { exercise { id } dateBucket { start } } count sum { reps } max { weightKg } } }',
  Records:
    'query Records { personalRecords(standing: true) { kind date exerciseId value reps weight } }',
  Create:
    'mutation Create($input: WorkoutInput!) { createWorkout(input: $input) { workout { id name days { id name setGroups { id plannedSets { id reps } } } } errors { path message } } }',
};

/** Trusted documents by id. */
export const OPERATIONS = { nested: DOCUMENTS.Nested };

const operation = (operationName, variables, headers) =>
  graphql({ query: DOCUMENTS[operationName], operationName, variables }, headers);

const POSTGRAPHILE_SCALARS = 'rowId uuid name description licenseAuthor creationDate';
const POSTGRAPHILE_EXERCISES =
  'allExercises(first: $first, condition: { status: "2" }, orderBy: PRIMARY_KEY_ASC)';
const POSTGRAPHILE_DOCUMENTS = {
  Row: `query Row($id: Int!) { exerciseByRowId(rowId: $id) { ${POSTGRAPHILE_SCALARS} } }`,
  Scalars: `query Scalars($first: Int) { ${POSTGRAPHILE_EXERCISES} { nodes { ${POSTGRAPHILE_SCALARS} } } }`,
  Nested: `query Nested($first: Int) { ${POSTGRAPHILE_EXERCISES} { nodes { rowId name exerciseBaseByExerciseBaseId {
    exerciseCategoryByCategoryId { name }
    exerciseBaseMusclesByExerciseBaseId(condition: { isSecondary: false }) { nodes { muscleByMuscleId { name } } }
    exerciseBaseEquipmentsByExerciseBaseId { nodes { equipmentByEquipmentId { name } } }
    exerciseImagesByExerciseBaseId { nodes { image isMain } } } } } }`,
  Own: 'query Own($first: Int, $userId: Int) { allWeightEntries(first: $first, condition: { userId: $userId }, orderBy: DATE_ASC) { nodes { rowId date weight } } }',
};
const postgraphile = (operationName, variables) =>
  graphql({ query: POSTGRAPHILE_DOCUMENTS[operationName], operationName, variables });

const withId = ({ rowId, ...row }) => ({ id: String(rowId), ...row });
const scalarsOf = ({ creationDate, ...row }) => ({ ...withId(row), createdOn: creationDate });
const byName = (a, b) => a.name.localeCompare(b.name);

function nestedOf({ exerciseBaseByExerciseBaseId: exercise, ...row }) {
  const { exerciseBaseMusclesByExerciseBaseId: muscles } = exercise;
  const { exerciseBaseEquipmentsByExerciseBaseId: equipment } = exercise;
  const { exerciseImagesByExerciseBaseId: images } = exercise;

  return {
    ...withId(row),
    category: exercise.exerciseCategoryByCategoryId,
    // PostGraphile cannot order rows by those to which they refer.
    muscles: muscles.nodes.map((link) => link.muscleByMuscleId).sort(byName),
    equipment: equipment.nodes.map((link) => link.equipmentByEquipmentId).sort(byName),
    images: images.nodes.map(({ image, isMain }) => ({ image: `${BASE}/media/${image}`, isMain })),
  };
}

/** Converts the nodes of PostGraphile's list. */
const nodesOf =
  (field, convert) =>
  ({ data }) => {
    const [{ nodes }] = Object.values(data);

    return { data: { [field]: { nodes: nodes.map(convert) } } };
  };

/**
 * A public read in three kinds: the same request again and again, without and with If-None-Match
 * (REST only), and with data that has just changed or is read for the first time.
 */
function publicReads(row, { cold = COLD, ...coldOnly } = {}) {
  const { name, handWritten = row.fitgraph } = row;
  const all = { ...row, handWritten };
  const rows = [
    { ...all, name: `${name}, unchanged`, wanted: { handWritten: UNCHANGED } },
    { ...all, ...coldOnly, name: `${name}, cold`, isCold: true },
  ];

  rows[1].wanted = { handWritten: cold, ...coldOnly.wanted };

  if (row.fitgraph.method === 'GET') {
    rows.splice(1, 0, {
      ...all,
      name: `${name}, If-None-Match`,
      isConditional: true,
      isInQuick: false,
      wanted: { handWritten: NOT_MODIFIED },
    });
  }

  return rows;
}

const ownList = (name, request, more) => ({
  name,
  fitgraph: request,
  handWritten: request,
  wanted: { handWritten: PRIVATE },
  isInQuick: true,
  ...more,
});

/** Numbers from 0 on, for requests of which none may equal another. */
function counter() {
  let number = -1;

  return () => (number += 1);
}

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(1000, 0, 1);
const dayOf = (number) => new Date(FIRST_DAY + number * DAY_MS).toISOString().slice(0, 10);

/** Written rows differ in their ids, and in the values that make each request another one. */
const withoutDifferences = (text) =>
  text.replace(/"(id|set|exercise|reps|date)":"?[\d-]+"?/g, '"$1":0');

/** Three days with four groups of two planned sets. */
const NEW_WORKOUT = {
  name: 'Strength',
  days: ['MONDAY', 'WEDNESDAY', 'FRIDAY'].map((weekday) => ({
    name: weekday.toLowerCase(),
    weekdays: [weekday],
    setGroups: [1, 2, 3, 4].map((exerciseId) => ({
      sets: 3,
      plannedSets: [8, 10].map((reps) => ({ exerciseId, reps })),
    })),
  })),
};

const UNSEEN_LISTS = 17;

/**
 * `ids` are those of the rows in the database: `exercise`, `reader`, `workout`, `plan`, `settings`
 * of the writer; `ingredients` is the number of ingredients, and `log` the one in the middle of the
 * reader's, with its `cursor`.
 */
export function rowsOf({ exercise, reader, workout, plan, settings = [], ingredients, log = {} }) {
  const nextDay = counter();
  const nextReps = counter();
  const nextDocument = counter();
  const offset = Math.floor((ingredients * 0.9) / 100) * 100;
  const first20 = { first: 20 };
  const { cursor, ...logKey } = log;

  const postWeightEntry = () =>
    send('POST', '/api/v2/weightentry/', { date: dayOf(nextDay()), weight: '80.5' }, WRITER);

  const patchSetting = () => {
    const number = nextReps();

    return send(
      'PATCH',
      `/api/v2/setting/${settings[number % settings.length]}/`,
      {
        reps: 1 + (Math.floor(number / settings.length) % 20),
      },
      WRITER,
    );
  };

  const unseenDocument = () => graphql({ query: documentOf(nextDocument(), UNSEEN_LISTS, 1) });

  const rows = [
    ...publicReads({ name: 'REST root', fitgraph: get('') }),
    ...publicReads(
      { name: 'exercise list, 20', fitgraph: get('exercise/?limit=20'), isInQuick: true },
      { isOpenLoop: true },
    ),
    ...publicReads({ name: 'exercise list, 400', fitgraph: get('exercise/?limit=400'), ...FEW }),
    ...publicReads({
      name: 'exerciseinfo list, 20',
      fitgraph: get('exerciseinfo/?limit=20'),
      isInQuick: true,
    }),
    ...publicReads({
      name: 'exerciseinfo list, 400',
      fitgraph: get('exerciseinfo/?limit=400'),
      ...FEW,
    }),
    ...publicReads({
      name: 'exercise detail',
      fitgraph: get(`exercise/${exercise}/`),
      isInQuick: true,
    }),
    ...publicReads({
      name: 'ingredient list, 20',
      fitgraph: get('ingredient/?limit=20'),
      ...FEW,
      isInQuick: true,
    }),
    ...publicReads({
      name: 'ingredient list, filtered',
      fitgraph: get('ingredient/?energy=250&limit=20'),
      ...FEW,
    }),
    ...publicReads({
      name: 'ingredient list, by protein',
      fitgraph: get('ingredient/?limit=20&ordering=-protein'),
      ...FEW,
    }),
    ...publicReads({
      name: 'ingredient list, at 90 %',
      fitgraph: get(`ingredient/?limit=20&offset=${offset}`),
      ...FEW,
    }),
    ...publicReads({
      name: 'ingredient search',
      fitgraph: get('ingredient/search/?language=en&term=zucchini%20cookies%201'),
    }),
    ownList('weight list, 20', get('weightentry/?limit=20', READER), { isOpenLoop: true }),
    ownList('weight list, 900', get('weightentry/?limit=900', READER)),
    ownList('workoutlog list, 20', get('workoutlog/?limit=20', READER)),
    {
      name: 'canonical representation',
      fitgraph: get(`workout/${workout}/canonical_representation/`, READER),
    },
    {
      name: 'nutritional values of a plan',
      fitgraph: get(`nutritionplan/${plan}/nutritional_values/`, READER),
    },
    {
      name: 'log overview, 300 entries',
      fitgraph: get(`nutritionplan/${plan}/get_log_overview/`, READER),
    },
    {
      name: 'POST weight entry',
      fitgraph: postWeightEntry,
      handWritten: postWeightEntry,
      comparable: withoutDifferences,
      wanted: { handWritten: WRITE },
      isInQuick: true,
      isOpenLoop: true,
    },
    {
      name: 'PATCH setting',
      fitgraph: patchSetting,
      handWritten: patchSetting,
      comparable: withoutDifferences,
      wanted: { handWritten: WRITE },
      isInQuick: true,
    },
    ...publicReads(
      {
        name: 'GraphQL, one row',
        fitgraph: operation('Row', { id: String(exercise) }),
        isInQuick: true,
      },
      {
        postgraphile: postgraphile('Row', { id: exercise }),
        toSameShape: ({ data }) => ({
          data: { exerciseTranslation: scalarsOf(data.exerciseByRowId) },
        }),
        wanted: { postgraphile: 1.2 },
      },
    ),
    ...publicReads(
      { name: 'GraphQL, 20 scalars', fitgraph: operation('Scalars', first20), isInQuick: true },
      {
        postgraphile: postgraphile('Scalars', first20),
        toSameShape: nodesOf('exerciseTranslations', scalarsOf),
        wanted: { postgraphile: 1.2 },
      },
    ),
    ...publicReads(
      { name: 'GraphQL, 20 nested', fitgraph: operation('Nested', first20), isInQuick: true },
      {
        cold: NESTED,
        postgraphile: postgraphile('Nested', first20),
        toSameShape: nodesOf('exerciseTranslations', nestedOf),
        wanted: { postgraphile: 1.5 },
        isOpenLoop: true,
      },
    ),
    ...publicReads(
      { name: 'GraphQL, 400 nested', fitgraph: operation('Nested', { first: 400 }), ...FEW },
      {
        cold: NESTED,
        postgraphile: postgraphile('Nested', { first: 400 }),
        toSameShape: nodesOf('exerciseTranslations', nestedOf),
        wanted: { postgraphile: 1.5 },
      },
    ),
    ...publicReads(
      {
        name: 'GraphQL, trusted document',
        fitgraph: graphql({ id: 'nested', variables: first20 }),
        // The hand-written server receives the text.
        handWritten: operation('Nested', first20),
        isInQuick: true,
      },
      { cold: NESTED },
    ),
    ownList('GraphQL, own 20', operation('Own', first20, READER), {
      postgraphile: postgraphile('Own', { first: 20, userId: reader }),
      toSameShape: nodesOf('weightEntries', withId),
      wanted: { handWritten: PRIVATE, postgraphile: 1.2 },
    }),
    ownList('GraphQL, cursor page', operation('Page', { first: 20, after: cursor }, READER), {
      handWritten: operation('Page', { first: 20, ...logKey }, READER),
    }),
    { name: 'GraphQL, groups of logs', fitgraph: operation('Groups', {}, READER), ...FEW },
    { name: 'GraphQL, records of logs', fitgraph: operation('Records', {}, READER), ...FEW },
    { name: 'GraphQL, unseen document', fitgraph: unseenDocument, ...FEW },
    {
      name: 'GraphQL, create workout',
      fitgraph: operation('Create', { input: NEW_WORKOUT }, WRITER),
      handWritten: operation('Create', { input: NEW_WORKOUT }, WRITER),
      comparable: withoutDifferences,
      isInQuick: true,
    },
  ];

  return rows.map((row) => ({ connections: CONNECTIONS, ...row }));
}
