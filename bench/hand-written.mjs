// Reference server of the benchmark, written by hand with node:http and pg: PostgreSQL creates the
// JSON, with the same bytes as the service. Started by servers.mjs.
import http from 'node:http';
import { createHash } from 'node:crypto';
import pg from 'pg';

const [connection, port, base] = [
  JSON.parse(process.argv[2]),
  Number(process.argv[3]),
  process.argv[4],
];
const pool = new pg.Pool(connection);

const list = (rows) =>
  `coalesce('[' || string_agg(row_to_json(r)::text, ',') || ']', '[]') FROM (${rows}) r`;
const nested = (rows) => `(SELECT ${list(rows)})::json`;
const object = (row) => `(SELECT row_to_json(o) FROM (${row}) o)`;
const page = (table, where, columns, order) =>
  `(SELECT count(*)::int FROM ${table} t WHERE ${where}) AS count,
   (SELECT ${list(`SELECT ${columns} FROM ${table} t WHERE ${where} ORDER BY ${order} LIMIT $1 OFFSET $2`)}) AS results`;

// Exercises
const ids = (table, column, order, extra = '') =>
  `array_to_json(ARRAY(SELECT l.${column} FROM ${table} l JOIN ${order} o ON o.id = l.${column} WHERE l.exercise_base_id = t.exercise_base_id ${extra} ORDER BY o.name, o.id))`;
const VARIATIONS = `array_to_json(ARRAY(SELECT v.id FROM exercise_base own JOIN exercise_base b ON b.variation_id = own.variation_id JOIN exercise v ON v.exercise_base_id = b.id
  WHERE own.id = t.exercise_base_id AND v.language_id = t.language_id AND v.status = '2' ORDER BY b.id, v.id))`;
const muscles = (
  secondary,
) => `m.id, m.name, m.is_front, '/static/images/muscles/main/muscle-' || m.id || '.svg' AS image_url_main,
  '/static/images/muscles/secondary/muscle-' || m.id || '.svg' AS image_url_secondary
  FROM exercise_base_muscle l JOIN muscle m ON m.id = l.muscle_id WHERE l.exercise_base_id = t.exercise_base_id AND l.is_secondary = ${secondary} ORDER BY m.name, m.id`;
const EXERCISE = `t.id, t.uuid, t.name, t.status, t.description, t.creation_date, (SELECT category_id FROM exercise_base b WHERE b.id = t.exercise_base_id) AS category,
  ${ids('exercise_base_muscle', 'muscle_id', 'muscle', 'AND NOT l.is_secondary')} AS muscles, ${ids('exercise_base_muscle', 'muscle_id', 'muscle', 'AND l.is_secondary')} AS muscles_secondary,
  ${ids('exercise_base_equipment', 'equipment_id', 'equipment')} AS equipment, t.language_id AS language, t.license_id AS license, t.license_author, ${VARIATIONS} AS variations`;
const IMAGES = `SELECT i.id, i.uuid, i.exercise_base_id AS exercise, '${base}/media/' || i.image AS image, i.is_main, i.status FROM exercise_image i
  WHERE i.exercise_base_id = t.exercise_base_id ORDER BY i.is_main DESC, i.id`;
const CATEGORY = (columns) =>
  object(
    `SELECT ${columns} FROM exercise_base b JOIN exercise_category c ON c.id = b.category_id WHERE b.id = t.exercise_base_id`,
  );
const INFO = `t.id, t.name, t.uuid, t.description, t.creation_date, ${CATEGORY('c.id, c.name')} AS category,
  ${nested(`SELECT ${muscles(false)}`)} AS muscles, ${nested(`SELECT ${muscles(true)}`)} AS muscles_secondary,
  ${nested(`SELECT q.id, q.name FROM exercise_base_equipment l JOIN equipment q ON q.id = l.equipment_id WHERE l.exercise_base_id = t.exercise_base_id ORDER BY q.name, q.id`)} AS equipment,
  ${object('SELECT g.id, g.short_name, g.full_name FROM language g WHERE g.id = t.language_id')} AS language,
  ${object('SELECT g.id, g.full_name, g.short_name, g.url FROM license g WHERE g.id = t.license_id')} AS license, t.license_author,
  ${nested(IMAGES)} AS images, ${nested(`SELECT c.id, c.exercise_id AS exercise, c.comment FROM exercise_comment c WHERE c.exercise_id = t.id ORDER BY c.id`)} AS comments, ${VARIATIONS} AS variations`;
const exercisePage = (columns) => page('exercise', `t.status = '2'`, columns, 't.name, t.id');

// GraphQL
const SCALARS = `t.id::text AS id, t.uuid, t.name, t.description, t.license_author AS "licenseAuthor", t.creation_date AS "createdOn"`;
const NESTED = `t.id::text AS id, t.name, ${CATEGORY('c.name')} AS category,
  ${nested(`SELECT m.name FROM exercise_base_muscle l JOIN muscle m ON m.id = l.muscle_id WHERE l.exercise_base_id = t.exercise_base_id AND NOT l.is_secondary ORDER BY m.name COLLATE "reader", m.id`)} AS muscles,
  ${nested(`SELECT q.name FROM exercise_base_equipment l JOIN equipment q ON q.id = l.equipment_id WHERE l.exercise_base_id = t.exercise_base_id ORDER BY q.name COLLATE "reader", q.id`)} AS equipment,
  ${nested(`SELECT '${base}/media/' || i.image AS image, i.is_main AS "isMain" FROM exercise_image i WHERE i.exercise_base_id = t.exercise_base_id ORDER BY i.is_main DESC, i.id`)} AS images`;
const exerciseNodes = (columns) =>
  `SELECT (SELECT ${list(`SELECT ${columns} FROM exercise t WHERE t.status = '2' ORDER BY t.id LIMIT $1`)}) AS nodes`;

// Ingredients
const INGREDIENT = `t.id, t.name, t.creation_date, t.update_date, t.energy, t.protein::text, t.carbohydrates::text, t.carbohydrates_sugar::text, t.fat::text, t.fat_saturated::text,
  t.fibres::text, t.sodium::text, t.license_id AS license, t.license_author, t.language_id AS language`;
const ingredientPage = (where, order) =>
  `SELECT ${page('ingredient', `t.status = '2'${where}`, INGREDIENT, order)}`;

// Rows of the user of a token
const USER = (token) =>
  `WITH u AS MATERIALIZED (SELECT t.user_id FROM token t JOIN user_account a ON a.id = t.user_id AND a.is_active WHERE t.digest = ${token})`;
const IS_OWN = 't.user_id = (SELECT user_id FROM u)';
const VIEWER = '(SELECT user_id FROM u) AS viewer';
const WEIGHT_ENTRY = `t.id, t.date, t.weight::text AS weight, t.user_id AS "user"`;
const WORKOUT_LOG = `t.id, t.reps, t.weight::text AS weight, t.date, t.rir, t.exercise_id AS exercise, t.workout_id AS workout, t.repetition_unit_id AS repetition_unit, t.weight_unit_id AS weight_unit`;
const SETTING = `t.id, t.set_id AS set, t.exercise_id AS exercise, t.repetition_unit_id AS repetition_unit, t.reps, t.weight::text AS weight, t.weight_unit_id AS weight_unit, t.rir, t."order", t.comment`;
const ownPage = (table, columns, order) =>
  `${USER('$3')} SELECT ${VIEWER}, ${page(table, IS_OWN, columns, order)}`;

const STATEMENTS = {
  exercises: `SELECT ${exercisePage(EXERCISE)}`,
  exerciseInfos: `SELECT ${exercisePage(INFO)}`,
  exercise: `SELECT row_to_json(r)::text AS row FROM (SELECT ${EXERCISE} FROM exercise t WHERE t.id = $1 AND t.status = '2') r`,
  ingredients: ingredientPage('', 't.name, t.id'),
  ingredientsByEnergy: ingredientPage(' AND t.energy = $3', 't.name, t.id'),
  ingredientsByProtein: ingredientPage('', 't.protein DESC, t.id'),
  search: `SELECT ${list(`SELECT t.name AS value, (SELECT row_to_json(d) FROM (SELECT t.id, t.name) d) AS data FROM ingredient t WHERE t.name_folded LIKE search_fold('%' || $1 || '%')
    AND t.language_id = (SELECT id FROM language WHERE short_name = $2) AND t.status = '2' ORDER BY t.name, t.id`).replace(
    ' FROM',
    ' AS results FROM',
  )}`,
  weightEntries: ownPage('weight_entry', WEIGHT_ENTRY, 't.date, t.id'),
  workoutLogs: ownPage('workout_log', WORKOUT_LOG, 't.date, t.reps, t.id'),
  // GraphQL, by the names of operations
  Row: `SELECT row_to_json(r)::text AS row FROM (SELECT ${SCALARS} FROM exercise t WHERE t.id = $1 AND t.status = '2') r`,
  Scalars: exerciseNodes(SCALARS),
  Nested: exerciseNodes(NESTED),
  Own: `${USER('$2')} SELECT ${VIEWER}, (SELECT ${list(`SELECT t.id::text AS id, t.date, t.weight::text AS weight FROM weight_entry t WHERE ${IS_OWN} ORDER BY t.date, t.id LIMIT $1`)}) AS nodes`,
  Page: `${USER('$5')} SELECT ${VIEWER}, (SELECT ${list(`SELECT t.id::text AS id, t.date, t.reps, t.weight::text AS weight FROM workout_log t
    WHERE ${IS_OWN} AND (t.date, t.reps, t.id) > ($2, $3, $4) ORDER BY t.date, t.reps, t.id LIMIT $1`)}) AS nodes`,
  // Writes
  postWeightEntry: `${USER('$1')}, t AS (INSERT INTO weight_entry (user_id, date, weight) SELECT user_id, $2, $3 FROM u RETURNING *)
    SELECT row_to_json(r)::text AS row FROM (SELECT ${WEIGHT_ENTRY} FROM t) r`,
  patchSetting: `${USER('$1')}, t AS (UPDATE setting s SET reps = $3 FROM u WHERE s.user_id = u.user_id AND s.id = $2 RETURNING s.*)
    SELECT row_to_json(r)::text AS row FROM (SELECT ${SETTING} FROM t) r`,
  viewer: `${USER('$1')} SELECT ${VIEWER}`,
  createWorkout:
    'INSERT INTO workout (user_id, creation_date, comment) VALUES ($1, current_date, $2) RETURNING id',
  createDays:
    'INSERT INTO training_day (user_id, workout_id, description) SELECT $1, $2, d FROM unnest($3::text[]) d RETURNING id',
  createWeekdays:
    'INSERT INTO training_day_weekday (user_id, training_day_id, day_of_week_id) SELECT $1, * FROM unnest($2::int[], $3::int[])',
  createSets:
    'INSERT INTO workout_set (user_id, training_day_id, sets, "order") SELECT $1, * FROM unnest($2::int[], $3::int[], $4::int[]) RETURNING id',
  createSettings:
    'INSERT INTO setting (user_id, set_id, exercise_base_id, reps, "order") SELECT $1, * FROM unnest($2::int[], $3::int[], $4::int[], $5::int[]) RETURNING id',
};

const runAll = async (name, values, client = pool) =>
  (await client.query({ name, text: STATEMENTS[name], values })).rows;
const run = async (name, values, client) => (await runAll(name, values, client))[0];

async function transaction(work) {
  const client = await pool.connect();

  try {
    await client.query('BEGIN');
    const result = await work(client);

    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const digestOf = ({ headers }) =>
  createHash('sha256')
    .update((headers.authorization ?? '').slice(6))
    .digest();

/** Returns a result of rows of the user, if there is such a user. */
function ofViewer(result) {
  if (!result.viewer) throw new HttpError(403, 'Invalid token.');

  return result;
}

function found(result) {
  if (!result?.row) throw new HttpError(404, 'Not found.');

  return result.row;
}

const limitOf = (url) => Number(url.searchParams.get('limit') ?? 20);
const offsetOf = (url) => Number(url.searchParams.get('offset') ?? 0);
const windowOf = (url) => [limitOf(url), offsetOf(url)];

function link(url, offset) {
  const query = new URLSearchParams(url.searchParams);

  query.set('limit', limitOf(url));
  if (offset > 0) query.set('offset', offset);
  else query.delete('offset');
  query.sort();
  return `"${base}${url.pathname}?${query}"`;
}

function pageText(url, { count, results }) {
  const [limit, offset] = windowOf(url);
  const next = count > offset + limit ? link(url, offset + limit) : 'null';
  const previous = offset > 0 ? link(url, offset - limit) : 'null';

  return `{"count":${count},"next":${next},"previous":${previous},"results":${results}}`;
}

async function ingredients(url) {
  const energy = url.searchParams.get('energy');
  const values = windowOf(url);

  if (energy) return run('ingredientsByEnergy', [...values, Number(energy)]);
  if (url.searchParams.get('ordering') === '-protein') return run('ingredientsByProtein', values);

  return run('ingredients', values);
}

const ENDPOINTS =
  'workout workoutsession schedulestep schedule day set setting workoutlog userprofile language daysofweek license setting-repetitionunit setting-weightunit exerciseinfo exercise equipment exercisecategory exerciseimage exercisecomment muscle ingredient weightunit ingredientweightunit nutritionplan meal mealitem weightentry ingredientinfo nutritionplaninfo nutritiondiary'.split(
    ' ',
  );
const ROOT = JSON.stringify(
  Object.fromEntries(ENDPOINTS.map((name) => [name, `${base}/api/v2/${name}/`])),
);

/** Handlers by method and path. They receive the URL, the request, its body and the id in the path. */
const REST = {
  'GET ': () => ROOT,
  'GET exercise/': async (url) => pageText(url, await run('exercises', windowOf(url))),
  'GET exerciseinfo/': async (url) => pageText(url, await run('exerciseInfos', windowOf(url))),
  'GET exercise/ID/': async (url, request, body, id) => found(await run('exercise', [id])),
  'GET ingredient/': async (url) => pageText(url, await ingredients(url)),
  'GET ingredient/search/': async ({ searchParams }) =>
    `{"suggestions":${(await run('search', [searchParams.get('term'), searchParams.get('language')])).results}}`,
  'GET weightentry/': async (url, request) =>
    pageText(url, ofViewer(await run('weightEntries', [...windowOf(url), digestOf(request)]))),
  'GET workoutlog/': async (url, request) =>
    pageText(url, ofViewer(await run('workoutLogs', [...windowOf(url), digestOf(request)]))),
  'POST weightentry/': async (url, request, { date, weight }) =>
    found(
      await transaction((client) =>
        run('postWeightEntry', [digestOf(request), date, weight], client),
      ),
    ),
  'PATCH setting/ID/': async (url, request, { reps }, id) =>
    found(
      await transaction((client) => run('patchSetting', [digestOf(request), id, reps], client)),
    ),
};

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

/** Creates a workout with its days, sets and settings: one statement for each table. */
const createWorkout = ({ input }, request) =>
  transaction(async (client) => {
    const { viewer } = ofViewer(await run('viewer', [digestOf(request)], client));
    const create = async (name, ...values) =>
      (await runAll(name, [viewer, ...values], client)).map(({ id }) => String(id));
    const { name, days } = input;
    const [id] = await create('createWorkout', name);
    const dayIds = await create(
      'createDays',
      id,
      days.map((day) => day.name),
    );
    const weekdays = days.flatMap((day, index) =>
      day.weekdays.map((weekday) => [dayIds[index], 1 + WEEKDAYS.indexOf(weekday)]),
    );

    await create('createWeekdays', ...columnsOf(weekdays));
    const sets = days.flatMap(({ setGroups }, index) =>
      setGroups.map((group, place) => [dayIds[index], group.sets, place + 1]),
    );
    const setIds = await create('createSets', ...columnsOf(sets));
    const settings = days
      .flatMap(({ setGroups }) => setGroups)
      .flatMap(({ plannedSets }, index) =>
        plannedSets.map(({ exerciseId, reps }, place) => [
          setIds[index],
          exerciseId,
          reps,
          place + 1,
        ]),
      );
    const settingIds = await create('createSettings', ...columnsOf(settings));
    const groupText = ({ plannedSets }) => ({
      id: setIds.shift(),
      plannedSets: plannedSets.map(({ reps }) => ({ id: settingIds.shift(), reps })),
    });
    const workout = {
      id,
      name,
      days: days.map((day) => ({
        id: dayIds.shift(),
        name: day.name,
        setGroups: day.setGroups.map(groupText),
      })),
    };

    return JSON.stringify({ createWorkout: { workout, errors: [] } });
  });

/** Turns rows into columns, as `unnest` needs them. */
const columnsOf = (rows) => rows[0].map((_, column) => rows.map((row) => row[column]));

const nodesText = (field, { nodes }) => `{"${field}":{"nodes":${nodes}}}`;

/** Handlers by the name of the operation. They return the text of `data`. */
const GRAPHQL = {
  Row: async ({ id }) => `{"exerciseTranslation":${found(await run('Row', [id]))}}`,
  Scalars: async ({ first }) => nodesText('exerciseTranslations', await run('Scalars', [first])),
  Nested: async ({ first }) => nodesText('exerciseTranslations', await run('Nested', [first])),
  Own: async ({ first }, request) =>
    nodesText('weightEntries', ofViewer(await run('Own', [first, digestOf(request)]))),
  Page: async ({ first, date, reps, id }, request) =>
    nodesText(
      'workoutLogs',
      ofViewer(await run('Page', [first, date, reps, id, digestOf(request)])),
    ),
  Create: createWorkout,
};

async function bodyOf(request) {
  let text = '';

  for await (const chunk of request) text += chunk;

  return text ? JSON.parse(text) : {};
}

async function respond(request) {
  const url = new URL(request.url, base);
  const body = await bodyOf(request);

  if (url.pathname === '/graphql') {
    return `{"data":${await GRAPHQL[body.operationName](body.variables, request)}}\n`;
  }

  const [, path, id] = /^\/api\/v2\/(.*?)(?:(?<=\/)(\d+)\/)?$/.exec(url.pathname);
  const handle = REST[`${request.method} ${path}${id ? 'ID/' : ''}`];

  if (!handle) throw new HttpError(404, 'Not found.');

  return handle(url, request, body, Number(id));
}

http
  .createServer(async (request, response) => {
    let status = request.method === 'POST' && request.url !== '/graphql' ? 201 : 200;
    let text;

    try {
      text = await respond(request);
    } catch (error) {
      status = error.status ?? 500;
      text = JSON.stringify({ detail: error.message });
    }

    response
      .writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      })
      .end(text);
  })
  .listen(port, '127.0.0.1', () => console.log('ready'));
