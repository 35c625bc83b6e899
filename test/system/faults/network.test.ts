/**
 * Network faults between the server and its database: requests fail quickly, no write is lost or
 * duplicated, and the server recovers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { timeOf, until } from '../../setup/waits';
import { plain } from '../../files/pictures';
import { Scene } from './server-behind-proxy';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

/** Duration of a fault. */
const BROKEN_MS = Number(process.env.FAULT_SECONDS ?? 4) * 1_000;

const FAULTS: [string, () => void][] = [
  ['drops all packets', () => scene.proxy.blackHole()],
  ['drops packets of existing connections', () => scene.proxy.blackHole('old')],
  ['delays all packets', () => scene.proxy.freeze()],
  ['resets all connections', () => scene.proxy.cut()],
  ['refuses all connections', () => scene.proxy.cut(true)],
];

/** `npm run faults` runs all of them. */
test.each(process.env.FAULTS === 'all' ? FAULTS : FAULTS.slice(0, 2))(
  'loses no write and recovers when the network %s',
  async (name, fail) => {
    const traffic = scene.traffic().read(6).write(4);

    await until('writes succeed', () => traffic.counted(201) > 5);
    fail();
    await sleep(BROKEN_MS);
    scene.proxy.heal();
    const healed = traffic.counted(200) + traffic.counted(201);

    await until(
      'requests succeed again',
      () => traffic.counted(200) + traffic.counted(201) > healed + 20,
    );
    await scene.endAndCheck(name, traffic);
  },
);

test('reports not ready within 4 s when the network drops packets, and detects missed changes after recovery', async () => {
  const { anonymous } = scene.server;
  const category = async () =>
    (await anonymous.query('{ exercises(first: 1) { nodes { category { id name } } } }')).data
      ?.exercises?.nodes[0].category;
  const { id } = await category();

  scene.proxy.blackHole();
  const notReady = () =>
    until(
      'the server is not ready',
      async () => (await anonymous.send('GET', '/health/ready')).status === 503,
    );

  expect(await timeOf(notReady, ...scene.server.workers)).toBeLessThan(4_000);
  await scene.database.pool.query(
    `UPDATE "exercise_category" SET "name" = 'Heard of later' WHERE "id" = $1`,
    [id],
  );
  scene.proxy.heal();
  await until(
    'the server is ready again',
    async () => (await anonymous.send('GET', '/health/ready')).status === 200,
  );
  await until('the change is visible', async () => (await category())?.name === 'Heard of later');
  // Resets the idle connections, which would be noticed as dead one after the other.
  scene.proxy.cut();
});

const COMMITTED_BUT_UNCONFIRMED = [
  'over REST',
  'in an atomic mutation',
  'with an Idempotency-Key',
] as const;

test.each(COMMITTED_BUT_UNCONFIRMED)(
  'keeps the file of an image whose COMMIT was executed but not confirmed, %s',
  async (how) => {
    const headers = {
      'Apollo-Require-Preflight': '1',
      ...(how === 'with an Idempotency-Key' && { 'Idempotency-Key': 'unconfirmed' }),
    };
    const ann = scene.server.signedIn(scene.token).withHeaders(headers);
    const [{ base }] = (
      await scene.database.pool.query('SELECT min("id") AS "base" FROM "exercise_base"')
    ).rows;
    const content = await plain().png().toBuffer();
    const image = new Blob([new Uint8Array(content)]);

    const upload = () => {
      const form = new FormData();

      if (how === 'in an atomic mutation') {
        const query =
          'mutation ($base: ID!, $image: Upload!) @atomic { createExerciseImage(input: { exerciseId: $base, image: $image }) { exerciseImage { id } } }';

        form.set('operations', JSON.stringify({ query, variables: { base, image: null } }));
        form.set('map', '{"image":["variables.image"]}');
      } else form.set('exercise', String(base));
      form.set('image', image, `${how}.png`);
      return ann.send(
        'POST',
        how === 'in an atomic mutation' ? '/graphql' : '/api/v2/exerciseimage/',
        form,
      );
    };

    scene.proxy.loseCommitReplyOf('INSERT INTO "exercise_image"');
    const unconfirmed = await upload();

    expect([unconfirmed.status, unconfirmed.text]).toEqual([
      503,
      expect.stringContaining('Check whether it was saved before you send it again'),
    ]);

    const selectImages = `SELECT "image" FROM "exercise_image" WHERE "image" LIKE '%/' || $1 || '%'`;
    const { rows } = await scene.database.pool.query(selectImages, [how.replaceAll(' ', '_')]);

    expect(rows).toHaveLength(1);
    const file = await fetch(`${scene.server.url}/media/${rows[0].image as string}`);

    expect(file.status).toBe(200);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(content);

    // Sent again, the request with a key receives the response of the first one.
    if (how === 'with an Idempotency-Key') {
      expect(await upload()).toMatchObject({ status: 201, body: { image: file.url } });
    }
  },
);

test('returns 503 with the id of a logged cause for every request while the database is unreachable', async () => {
  const { anonymous, url } = scene.server;
  const ann = scene.server.signedIn(scene.token);
  const page = { Accept: 'text/html' };
  const login = { username: 'ann', password: 'a good password' };

  scene.proxy.cut(true);

  try {
    const answers = {
      'a list of an anonymous client': await anonymous.get('/exercise/'),
      'a list of a user': await ann.get('/workout/'),
      'a change': await ann.post('/workout/', { comment: 'none' }),
      'a change with a key': await ann
        .withHeaders({ 'Idempotency-Key': 'away' })
        .post('/workout/', { comment: 'none' }),
      'a login': await anonymous.post('/login/', login),
      'a page of a list': await anonymous.withHeaders(page).get('/exercise/'),
      'a page of a user': await ann.withHeaders(page).send('GET', '/user/api-key'),
      'the landing page': await ann.withHeaders(page).send('GET', '/'),
      'a search': await anonymous.get('/exercise/search/?term=press&language=en'),
      'a query': await anonymous.query('{ exercises { totalCount } }'),
      'a query of a user': await ann.query('{ viewer { name } }'),
      'a mutation': await ann.query('mutation { createWorkout(input: {}) { workout { id } } }'),
      'a mutation with a key': await ann
        .withHeaders({ 'Idempotency-Key': 'gone' })
        .query('mutation { createWorkout(input: {}) { workout { id } } }'),
      'a login by a mutation': await anonymous.query(
        'mutation ($u: String!, $p: String!) { login(username: $u, password: $p) { token } }',
        {
          u: login.username,
          p: login.password,
        },
      ),
    };

    for (const [what, { status, headers, body, text }] of Object.entries(answers)) {
      const isPage = /page/.test(what);

      expect([what, status, headers.get('retry-after'), typeof body]).toEqual([
        what,
        503,
        '2',
        isPage ? 'string' : 'object',
      ]);
      expect(headers.get('content-type')).toContain(isPage ? 'text/html' : 'json');
      expect(text).not.toMatch(/ECONN|connect |socket|127\.0\.0\.1/);
      const id = headers.get('x-request-id')!;

      expect(text).toContain(id);
      const isCauseLogged = () =>
        scene.server.stdout
          .split('\n')
          .some((line) => line.includes(id) && line.includes('"err"') && line.includes('ECONN'));

      await until(`the cause of ${what} is logged`, isCauseLogged);
    }
  } finally {
    scene.proxy.heal();
  }

  await until(
    'the server is ready again',
    async () => (await fetch(`${url}/health/ready`)).status === 200,
  );
});
