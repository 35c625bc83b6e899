// Reference server of the benchmark, written by hand with node:http and pg: PostgreSQL creates the
// JSON, with the same bytes as the service. Started by run.mjs.
import http from 'node:http';
import { createHash } from 'node:crypto';
import pg from 'pg';

const [connection, port, base] = [
  JSON.parse(process.argv[2]),
  Number(process.argv[3]),
  process.argv[4],
];
const pool = new pg.Pool({ ...connection, max: 10, min: 2 });

const list = (rows) =>
  `coalesce('[' || string_agg(row_to_json(r)::text, ',') || ']', '[]') FROM (${rows}) r`;
const nested = (rows) => `(SELECT ${list(rows)})::json`;
const ids = (table, column, order, extra = '') =>
  `array_to_json(ARRAY(SELECT l.${column} FROM ${table} l JOIN ${order} o ON o.id = l.${column} WHERE l.exercise_base_id = e.exercise_base_id ${extra} ORDER BY o.name, o.id))`;
const VARIATIONS = `array_to_json(ARRAY(SELECT v.id FROM exercise_base own JOIN exercise_base b ON b.variation_id = own.variation_id JOIN exercise v ON v.exercise_base_id = b.id
  WHERE own.id = e.exercise_base_id AND v.language_id = e.language_id AND v.status = '2' ORDER BY b.id, v.id))`;
const muscles = (
  secondary,
) => `m.id, m.name, m.is_front, '/static/images/muscles/main/muscle-' || m.id || '.svg' AS image_url_main,
  '/static/images/muscles/secondary/muscle-' || m.id || '.svg' AS image_url_secondary
  FROM exercise_base_muscle l JOIN muscle m ON m.id = l.muscle_id WHERE l.exercise_base_id = e.exercise_base_id AND l.is_secondary = ${secondary} ORDER BY m.name, m.id`;
const EXERCISE = `e.id, e.uuid, e.name, e.status, e.description, e.creation_date, (SELECT category_id FROM exercise_base b WHERE b.id = e.exercise_base_id) AS category,
  ${ids('exercise_base_muscle', 'muscle_id', 'muscle', 'AND NOT l.is_secondary')} AS muscles, ${ids('exercise_base_muscle', 'muscle_id', 'muscle', 'AND l.is_secondary')} AS muscles_secondary,
  ${ids('exercise_base_equipment', 'equipment_id', 'equipment')} AS equipment, e.language_id AS language, e.license_id AS license, e.license_author, ${VARIATIONS} AS variations`;
const IMAGES = `SELECT i.id, i.uuid, i.exercise_base_id AS exercise, '${base}/media/' || i.image AS image, i.is_main, i.status FROM exercise_image i
  WHERE i.exercise_base_id = e.exercise_base_id ORDER BY i.is_main DESC, i.id`;
const INFO = `e.id, e.name, e.uuid, e.description, e.creation_date, (SELECT row_to_json(c) FROM (SELECT c.id, c.name FROM exercise_base b JOIN exercise_category c ON c.id = b.category_id WHERE b.id = e.exercise_base_id) c) AS category,
  ${nested(`SELECT ${muscles(false)}`)} AS muscles, ${nested(`SELECT ${muscles(true)}`)} AS muscles_secondary,
  ${nested(`SELECT q.id, q.name FROM exercise_base_equipment l JOIN equipment q ON q.id = l.equipment_id WHERE l.exercise_base_id = e.exercise_base_id ORDER BY q.name, q.id`)} AS equipment,
  (SELECT row_to_json(g) FROM (SELECT g.id, g.short_name, g.full_name FROM language g WHERE g.id = e.language_id) g) AS language,
  (SELECT row_to_json(g) FROM (SELECT g.id, g.full_name, g.short_name, g.url FROM license g WHERE g.id = e.license_id) g) AS license, e.license_author,
  ${nested(IMAGES)} AS images, ${nested(`SELECT c.id, c.exercise_id AS exercise, c.comment FROM exercise_comment c WHERE c.exercise_id = e.id ORDER BY c.id`)} AS comments, ${VARIATIONS} AS variations`;
const GRAPHQL = `e.id::text AS id, e.name, (SELECT row_to_json(c) FROM (SELECT c.name FROM exercise_base b JOIN exercise_category c ON c.id = b.category_id WHERE b.id = e.exercise_base_id) c) AS category,
  ${nested(`SELECT m.name FROM exercise_base_muscle l JOIN muscle m ON m.id = l.muscle_id WHERE l.exercise_base_id = e.exercise_base_id AND NOT l.is_secondary ORDER BY m.name COLLATE "reader", m.id`)} AS muscles,
  ${nested(`SELECT q.name FROM exercise_base_equipment l JOIN equipment q ON q.id = l.equipment_id WHERE l.exercise_base_id = e.exercise_base_id ORDER BY q.name COLLATE "reader", q.id`)} AS equipment,
  ${nested(`SELECT '${base}/media/' || i.image AS image, i.is_main AS "isMain" FROM exercise_image i WHERE i.exercise_base_id = e.exercise_base_id ORDER BY i.is_main DESC, i.id`)} AS images`;
const pageOf = (columns) =>
  `SELECT (SELECT count(*)::int FROM exercise WHERE status = '2') AS count, (SELECT ${list(`SELECT ${columns} FROM exercise e WHERE e.status = '2' ORDER BY e.name, e.id LIMIT $1`)}) AS results`;

const Q = {
  list: pageOf(EXERCISE),
  info: pageOf(INFO),
  detail: `SELECT row_to_json(r)::text AS row FROM (SELECT ${EXERCISE} FROM exercise e WHERE e.id = $1 AND e.status = '2') r`,
  weight: `WITH u AS (SELECT t.user_id FROM token t JOIN user_account a ON a.id = t.user_id AND a.is_active WHERE t.digest = $1)
    SELECT (SELECT user_id FROM u) AS viewer, (SELECT count(*)::int FROM weight_entry w, u WHERE w.user_id = u.user_id) AS count,
    (SELECT ${list(`SELECT w.id, w.date, w.weight::text AS weight, w.user_id AS "user" FROM weight_entry w, u WHERE w.user_id = u.user_id ORDER BY w.date, w.id LIMIT $2`)}) AS results`,
  graphql:
    `SELECT ${list(`SELECT ${GRAPHQL} FROM exercise e WHERE e.status = '2' ORDER BY e.name COLLATE "reader", e.id LIMIT $1`)}`.replace(
      ' FROM (',
      ' AS results FROM (',
    ),
};
const run = async (name, values) => (await pool.query({ name, text: Q[name], values })).rows[0];

function send(response, text, status = 200) {
  response
    .writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
}

function page(response, path, { count, results }, limit) {
  const next = count > limit ? `"${base}${path}?limit=${limit}&offset=${limit}"` : 'null';

  send(response, `{"count":${count},"next":${next},"previous":null,"results":${results}}`);
}

http
  .createServer(async (request, response) => {
    const url = new URL(request.url, base);
    const path = url.pathname;
    const limit = Number(url.searchParams.get('limit') ?? 20);

    try {
      if (path === '/api/v2/exercise/') page(response, path, await run('list', [limit]), limit);
      else if (path === '/api/v2/exerciseinfo/') {
        page(response, path, await run('info', [limit]), limit);
      } else if (path.startsWith('/api/v2/exercise/')) {
        const found = await run('detail', [Number(path.split('/')[4])]);

        send(response, found?.row ?? '{"detail":"Not found."}', found ? 200 : 404);
      } else if (path === '/api/v2/weightentry/') {
        const digest = createHash('sha256')
          .update((request.headers.authorization ?? '').slice(6))
          .digest();
        const found = await run('weight', [digest, limit]);

        if (found.viewer) page(response, path, found, limit);
        else send(response, '{"detail":"Invalid token."}', 403);
      } else if (path === '/graphql') {
        let body = '';

        for await (const chunk of request) body += chunk;
        const { variables } = JSON.parse(body);

        send(
          response,
          `{"data":{"exerciseTranslations":{"nodes":${(await run('graphql', [variables.first])).results}}}}\n`,
        );
      } else send(response, '{}', 404);
    } catch (error) {
      send(response, JSON.stringify({ error: error.message }), 500);
    }
  })
  .listen(port, '127.0.0.1', () => console.log('ready'));
