/** A write that is repeated with the same Idempotency-Key is executed once. */
import { IdempotencyKeyStore } from '../../src/request/idempotency';
import { Fitgraph, fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer, Person } from '../setup/person';
import { lockIsAwaited, until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { KEPT_ANSWERS: '1MB' } });
let ann: Person;
let annId: number;
let made = 0;

/** Idempotency key of the current test. */
let key: string;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  annId = (await fitgraph.sql(`SELECT "id" FROM "user_account" WHERE "username" = 'ann'`))[0]!.id;
});
beforeEach(async () => {
  key = `key-${(made += 1)}`;
  await fitgraph.sql('DELETE FROM "weight_entry"');
});

const as = (person: Person, name: string = key) => person.withHeaders({ 'Idempotency-Key': name });
const ENTRY = { date: '2021-03-10', weight: '80.00' };
const CREATE = `mutation ($input: WeightEntryInput!) { createWeightEntry(input: $input) { weightEntry { id weight } errors { path } } }`;
const rows = async () => (await fitgraph.sql('SELECT "id" FROM "weight_entry"')).length;
const statusAndText = ({ status, text }: Answer) => ({ status, text });
const storedKeys = () => fitgraph.sql('SELECT * FROM "idempotency_key" WHERE "key" = $1', [key]);

describe('Idempotency-Key over REST', () => {
  test('replays the response of a repeated POST and executes it once', async () => {
    const first = await as(ann).post('/workout/', { comment: 'one' });

    expect(first.status).toBe(201);
    expect(statusAndText(await as(ann).post('/workout/', { comment: 'one' }))).toEqual(
      statusAndText(first),
    );
    expect((await ann.get('/workout/')).body.count).toBe(1);
    const other = await ann.post('/workout/', { comment: 'one' });

    expect(other.body.id).not.toBe(first.body.id);
  });

  test('replays the responses of repeated PATCH, PUT and DELETE requests', async () => {
    const { id } = (await ann.post('/weightentry/', ENTRY)).body;
    const path = `/weightentry/${id}/`;
    const patched = await as(ann, `${key}-patch`).patch(path, { weight: '81.00' });

    await ann.patch(path, { weight: '82.00' });
    expect(statusAndText(await as(ann, `${key}-patch`).patch(path, { weight: '81.00' }))).toEqual(
      statusAndText(patched),
    );
    expect((await ann.get(path)).body.weight).toBe('82.00');
    const put = await as(ann, `${key}-put`).put(path, ENTRY);

    expect(statusAndText(await as(ann, `${key}-put`).put(path, ENTRY))).toEqual(statusAndText(put));
    expect((await as(ann, `${key}-delete`).delete(path)).status).toBe(204);
    expect(statusAndText(await as(ann, `${key}-delete`).delete(path))).toEqual({
      status: 204,
      text: '',
    });
    expect((await ann.delete(path)).status).toBe(404);
  });

  test('returns 422 when a key is reused with another body, path, query string or API', async () => {
    await as(ann).post('/weightentry/', ENTRY);
    const conflict = {
      status: 422,
      body: { detail: 'This Idempotency-Key was used for another request.' },
    };

    expect(await as(ann).post('/weightentry/', { ...ENTRY, weight: '81.00' })).toMatchObject(
      conflict,
    );
    expect(await as(ann).post('/workout/', ENTRY)).toMatchObject(conflict);
    expect(await as(ann).post('/weightentry/?format=json', ENTRY)).toMatchObject(conflict);
    expect(await as(ann).query(CREATE, { input: ENTRY })).toMatchObject({
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    expect(await rows()).toBe(1);
  });

  test('replays a validation error', async () => {
    const wrong = { ...ENTRY, weight: '1.00' };
    const first = await as(ann).post('/weightentry/', wrong);

    expect(first.status).toBe(400);
    expect(statusAndText(await as(ann).post('/weightentry/', wrong))).toEqual(statusAndText(first));
  });

  test('recognizes a repeated form by its fields, whatever its boundary', async () => {
    const form = (comment: string) => {
      const data = new FormData();

      data.set('comment', comment);
      return data;
    };

    const send = (comment: string) => as(ann).send('POST', '/api/v2/workout/', form(comment));
    const first = await send('in a form');

    expect(first.status).toBe(201);
    expect(statusAndText(await send('in a form'))).toEqual(statusAndText(first));
    expect((await send('in another')).status).toBe(422);
  });

  test('keeps keys separate per user and stores none for anonymous clients', async () => {
    const bob = await fitgraph.user('bob');
    const [anns, bobs] = [
      await as(ann).post('/weightentry/', ENTRY),
      await as(bob).post('/weightentry/', ENTRY),
    ];

    expect(bobs.status).toBe(201);
    expect(bobs.body.id).not.toBe(anns.body.id);
    expect((await as(fitgraph.anonymous).post('/weightentry/', ENTRY)).status).toBe(403);
    expect(await storedKeys()).toHaveLength(2);
  });

  test.each(['', ' ', 'with blank', 'ä', 'x'.repeat(256), 'a, b'])(
    'rejects the invalid key %j with 400',
    async (name) => {
      const response = await as(ann, Buffer.from(name).toString('latin1')).post(
        '/weightentry/',
        ENTRY,
      );

      expect([response.status, response.body.detail]).toEqual([
        400,
        expect.stringMatching(/^Idempotency-Key must be/),
      ]);
      expect(await rows()).toBe(0);
    },
  );

  test('treats a quoted key like the same key without quotes', async () => {
    const first = await as(ann, `"${key}"`).post('/weightentry/', ENTRY);

    expect(statusAndText(await as(ann).post('/weightentry/', ENTRY))).toEqual(statusAndText(first));
  });

  test('returns 400 for an excessively nested body', async () => {
    const deep = `{"date": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;

    expect((await as(ann).send('POST', '/api/v2/weightentry/', deep)).status).toBe(400);
  });

  test('ignores the key of a read', async () => {
    expect((await as(ann).get('/weightentry/')).status).toBe(200);
    expect((await as(ann).query('{ viewer { name } }')).data.viewer.name).toBe('ann');
    expect(await storedKeys()).toEqual([]);
  });
});

describe('Idempotency-Key over GraphQL', () => {
  test('replays the response of a repeated mutation and executes it once', async () => {
    const first = await as(ann).query(CREATE, { input: ENTRY });

    expect(first.data.createWeightEntry.weightEntry.weight).toBe('80.00');
    expect(statusAndText(await as(ann).query(CREATE, { input: ENTRY }))).toEqual(
      statusAndText(first),
    );
    expect(await rows()).toBe(1);
  });

  test('replays the empty response of a mutation whose only field is skipped', async () => {
    const document = `mutation ($input: WeightEntryInput!, $isSkipped: Boolean!) { createWeightEntry(input: $input) @skip(if: $isSkipped) { weightEntry { id } } }`;
    const send = () => as(ann).query(document, { input: ENTRY, isSkipped: true });
    const first = await send();

    expect([first.status, first.body]).toEqual([200, { data: {} }]);
    expect(statusAndText(await send())).toEqual(statusAndText(first));
    expect(await rows()).toBe(0);
  });

  test('returns 422 when a key is reused with other variables or another document', async () => {
    await as(ann).query(CREATE, { input: ENTRY });

    for (const answer of [
      await as(ann).query(CREATE, { input: { ...ENTRY, weight: '81.00' } }),
      await as(ann).query(`${CREATE} `, { input: ENTRY }),
    ]) {
      expect(answer).toMatchObject({
        status: 422,
        code: 'IDEMPOTENCY_KEY_REUSED',
        data: undefined,
      });
    }

    const older = await as(ann)
      .withHeaders({ Accept: 'application/json' })
      .query(`${CREATE}  `, { input: ENTRY });

    expect([older.status, older.headers.get('content-type')]).toEqual([
      422,
      'application/json; charset=utf-8',
    ]);
  });

  test('replays errors with their HTTP status', async () => {
    const document = 'mutation ($id: ID!) { deleteWeightEntry(id: $id) { errors { code } } }';
    const first = await as(ann).query(document, { id: '999' });

    expect(first.data.deleteWeightEntry.errors).toEqual([{ code: 'NOT_FOUND' }]);
    expect(statusAndText(await as(ann).query(document, { id: '999' }))).toEqual(
      statusAndText(first),
    );
    const unfit = await as(ann, `${key}-b`).query(document, {});

    expect([unfit.status, unfit.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(statusAndText(await as(ann, `${key}-b`).query(document, {}))).toEqual(
      statusAndText(unfit),
    );
    expect(
      (await as(ann, `${key}-b`).withHeaders({ Accept: 'application/json' }).query(document, {}))
        .status,
    ).toBe(200);
  });

  test('rejects an invalid key with 400', async () => {
    expect(await as(ann, 'two words').query(CREATE, { input: ENTRY })).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
    });
    expect(await rows()).toBe(0);
  });

  test('stores no readable response in the database', async () => {
    await as(ann).query(CREATE, { input: ENTRY });
    expect((await storedKeys())[0]!.body.toString('latin1')).not.toContain('weightEntry');
  });
});

describe('concurrent requests with the same Idempotency-Key', () => {
  test.each([
    ['REST', (): Promise<Answer> => as(ann).post('/weightentry/', ENTRY), 201],
    ['GraphQL', (): Promise<Answer> => as(ann).query(CREATE, { input: ENTRY }), 200],
  ])(
    'over %s are executed once and get the same response or 409 with Retry-After',
    async (_interface, send, status) => {
      const answers = await Promise.all(Array.from({ length: 8 }, send));

      expect(await rows()).toBe(1);
      const successful = answers.filter((answer) => answer.status === status);

      expect(new Set(successful.map(({ text }) => text)).size).toBe(1);

      for (const answer of answers.filter((other) => !successful.includes(other))) {
        expect(answer.status).toBe(409);
        expect(answer.headers.get('retry-after')).toBe('1');
      }

      expect(statusAndText(await send())).toEqual(statusAndText(successful[0]!));
    },
  );
});

describe('a request with an Idempotency-Key', () => {
  const ageClaim = (seconds: number) =>
    fitgraph.sql(
      'UPDATE "idempotency_key" SET "at" = now() - make_interval(secs => $2) WHERE "key" = $1',
      [key, seconds],
    );

  /**
   * Recreates the state that a server leaves that died during the request, before or after its
   * write.
   */
  const leaveClaimOfDeadServer = async (written: boolean) => {
    await as(ann).post('/weightentry/', ENTRY);
    const set = `"status" = NULL, "headers" = NULL, "body" = NULL, "claim" = gen_random_uuid(), "written" = $2`;

    await fitgraph.sql(`UPDATE "idempotency_key" SET ${set} WHERE "key" = $1`, [key, written]);
    if (!written) await fitgraph.sql('DELETE FROM "weight_entry"');
  };

  test('runs again at once when its server is gone and had not written', async () => {
    await leaveClaimOfDeadServer(false);
    expect((await as(ann).post('/weightentry/', ENTRY)).status).toBe(409);
    await fitgraph.sql('UPDATE "idempotency_key" SET "instance" = 0 WHERE "key" = $1', [key]);
    expect((await as(ann).post('/weightentry/', ENTRY)).status).toBe(201);
    expect(await rows()).toBe(1);
  });

  test('is reported as lost at once when its server is gone after the write', async () => {
    await leaveClaimOfDeadServer(true);
    await fitgraph.sql('UPDATE "idempotency_key" SET "instance" = 0 WHERE "key" = $1', [key]);
    const lost = await as(ann).post('/weightentry/', ENTRY);

    expect([lost.status, lost.headers.get('retry-after')]).toEqual([409, null]);
    expect(await rows()).toBe(1);
  });

  test('runs again after a minute when its server is alive and had not written', async () => {
    await leaveClaimOfDeadServer(false);
    expect((await as(ann).post('/weightentry/', ENTRY)).status).toBe(409);
    await ageClaim(61);
    expect((await as(ann).post('/weightentry/', ENTRY)).status).toBe(201);
    expect(await rows()).toBe(1);
  });

  test('is reported as lost after a minute when its server is alive after the write', async () => {
    await leaveClaimOfDeadServer(true);
    expect((await as(ann).post('/weightentry/', ENTRY)).headers.get('retry-after')).toBe('1');
    await ageClaim(61);
    const lost = await as(ann).post('/weightentry/', ENTRY);

    expect([lost.status, lost.headers.get('retry-after'), lost.body.detail]).toEqual([
      409,
      null,
      expect.stringContaining('response was lost or too large'),
    ]);
    expect(await rows()).toBe(1);
  });

  test('is marked as written after its write', async () => {
    await as(ann).post('/weightentry/', ENTRY);
    expect((await storedKeys())[0]).toMatchObject({ written: true, status: 201 });
  });

  test('writes nothing when another request has taken over its claim', async () => {
    // A trigger replaces the claim just before the request writes.
    await fitgraph.sql(`CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN UPDATE "idempotency_key" SET "claim" = gen_random_uuid(); RETURN NEW; END $$`);
    await fitgraph.sql(
      'CREATE TRIGGER taken BEFORE INSERT ON "weight_entry" FOR EACH ROW EXECUTE FUNCTION taken()',
    );

    try {
      expect((await as(ann).post('/weightentry/', ENTRY)).status).toBe(409);
      expect(await rows()).toBe(0);
    } finally {
      await fitgraph.sql('DROP FUNCTION taken CASCADE');
    }
  });

  test.each([
    ['REST', (): Promise<Answer> => as(ann).post('/weightentry/', ENTRY), 500, 201],
    ['GraphQL', (): Promise<Answer> => as(ann).query(CREATE, { input: ENTRY }), 200, 200],
  ])(
    'is not stored when it fails unexpectedly over %s',
    async (_interface, send, failed, status) => {
      await fitgraph.sql(`ALTER TABLE "weight_entry" RENAME COLUMN "weight" TO "heaviness"`);

      try {
        const answer = await send();

        expect([answer.status, answer.text]).toEqual([
          failed,
          expect.stringContaining('Internal server error'),
        ]);
      } finally {
        await fitgraph.sql(`ALTER TABLE "weight_entry" RENAME COLUMN "heaviness" TO "weight"`);
      }

      expect(await storedKeys()).toEqual([]);
      expect((await send()).status).toBe(status);
      expect(await rows()).toBe(1);
    },
  );

  test('may reuse a key after a day', async () => {
    await as(ann).post('/weightentry/', ENTRY);
    await ageClaim(24 * 60 * 60 + 1);
    await fitgraph.sql('DELETE FROM "weight_entry"');
    expect((await as(ann).post('/weightentry/', { ...ENTRY, weight: '90.00' })).status).toBe(201);
  });
});

describe('a response', () => {
  const SEVERAL = `mutation ($input: WeightEntryInput!) {
    createWeightEntry(input: $input) { weightEntry { id } } createWorkout(input: { name: "beside" }) { workout { id } } }`;

  /** Makes the database reject the storage of responses while `work` runs. */
  const withoutStorage = async (work: () => Promise<void>) => {
    await fitgraph.sql(
      `CREATE FUNCTION "reject_response"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no storage'; END $$`,
    );
    await fitgraph.sql(`CREATE TRIGGER "reject_response" BEFORE UPDATE ON "idempotency_key" FOR EACH ROW
      WHEN (NEW."status" IS NOT NULL) EXECUTE FUNCTION "reject_response"()`);
    await work().finally(() => fitgraph.sql('DROP FUNCTION "reject_response" CASCADE'));
  };

  test.each([
    ['a REST request', (): Promise<Answer> => as(ann).post('/weightentry/', ENTRY), 500, 201],
    [
      'a mutation of one field',
      (): Promise<Answer> => as(ann).query(CREATE, { input: ENTRY }),
      200,
      200,
    ],
    [
      'an @atomic mutation',
      (): Promise<Answer> => as(ann).query(SEVERAL.replace('{', '@atomic {'), { input: ENTRY }),
      200,
      200,
    ],
  ])('to %s is stored in the transaction of the write', async (_what, send, failed, status) => {
    await withoutStorage(async () => {
      const answer = await send();

      expect([answer.status, answer.text]).toEqual([
        failed,
        expect.stringContaining('Internal server error'),
      ]);
      expect(await rows()).toBe(0);
    });
    // The key can be used again immediately.
    expect((await send()).status).toBe(status);
    expect((await send()).status).toBe(status);
    expect(await rows()).toBe(1);
  });

  test('to a mutation of several fields is stored after their transactions', async () => {
    const send = () => as(ann).query(SEVERAL, { input: ENTRY });

    await withoutStorage(async () => {
      expect((await send()).data.createWeightEntry.weightEntry.id).toEqual(expect.any(String));
      expect(await rows()).toBe(1);
    });
    await until(
      'the claim is released',
      async () => (await send()).code !== 'IDEMPOTENCY_KEY_IN_USE',
    );
    expect(await send()).toMatchObject({ status: 409, code: 'RESPONSE_LOST' });
    expect(await rows()).toBe(1);
  });

  test('with a failed field of the payload leaves nothing written if its statement has failed', async () => {
    const { id } = (await ann.post('/workout/', { comment: 'unreadable' })).body;
    const plan = `mutation ($id: ID!) { createWorkoutSession(input: { workoutId: $id, date: "2021-03-10" }) { workoutSession { id workout { name } } } }`;
    const sessions = async () => (await fitgraph.sql('SELECT 1 FROM "workout_session"')).length;
    const send = () => as(ann).query(plan, { id: String(id) });

    await fitgraph.sql('ALTER TABLE "workout" RENAME COLUMN "comment" TO "remark"');

    try {
      expect((await send()).text).toContain('Internal server error');
    } finally {
      await fitgraph.sql('ALTER TABLE "workout" RENAME COLUMN "remark" TO "comment"');
    }

    expect([await sessions(), await storedKeys()]).toEqual([0, []]);
    expect((await send()).data.createWorkoutSession.workoutSession.workout.name).toBe('unreadable');
    expect(await sessions()).toBe(1);
  });
});

describe('the storage limit for responses', () => {
  const times = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(' ');

  /** Selects the id of a row under 48 long aliases. The result has about 3 KB. */
  const LONG = `fragment Long on WeightEntry { ${times(48, (index) => `${'a'.repeat(60)}${index}: id`)} }`;
  const MANY = `mutation ($inputs: [WeightEntryInput!]!) { createWeightEntries(inputs: $inputs) {
    ${times(4, (index) => `b${index}: weightEntries { ...Long }`)} } } ${LONG}`;
  const ONE = `mutation ($input: WeightEntryInput!) { createWeightEntry(input: $input) {
    ${times(30, (index) => `b${index}: weightEntry { ...Long }`)} } } ${LONG}`;
  const day = (index: number) => ({
    ...ENTRY,
    date: new Date(Date.UTC(2015, 0, 1 + index)).toISOString().slice(0, 10),
  });
  const usage = async () =>
    (
      await fitgraph.sql('SELECT "bytes"::int FROM "idempotency_usage" WHERE "user_id" = $1', [
        annId,
      ])
    )[0]?.bytes;
  const storedBytes = async () =>
    (
      await fitgraph.sql(
        'SELECT sum(octet_length("body"))::int AS "bytes" FROM "idempotency_key" WHERE "user_id" = $1',
        [annId],
      )
    )[0]!.bytes;

  test('excludes a response that is too large, and a repetition gets 409', async () => {
    const send = () =>
      as(ann, `${key}-large`).query(MANY, {
        inputs: Array.from({ length: 100 }, (_, index) => day(index)),
      });
    const first = await send();

    expect(first.status).toBe(200);
    expect(first.text.length).toBeGreaterThan(1_000_000);
    const again = await send();

    expect([again.status, again.code, again.errors?.[0]?.message]).toEqual([
      409,
      'RESPONSE_LOST',
      expect.stringContaining('too large to be stored'),
    ]);
    expect(await rows()).toBe(100);
  });

  test('bounds the total per user, and repetitions without a stored response get 409', async () => {
    await fitgraph.sql('DELETE FROM "idempotency_key"');
    expect(await usage()).toBe(0);
    const send = (index: number) => as(ann, `${key}-${index}`).query(ONE, { input: day(index) });
    const before = await rows();

    const sendAll = async (): Promise<number[]> => {
      const statuses: number[] = [];

      // Sends four requests at a time, so that none waits too long for a connection.
      for (let first = 0; first < 16; first += 4) {
        const answers = await Promise.all(
          Array.from({ length: 4 }, (_, index) => send(first + index)),
        );

        statuses.push(...answers.map(({ status }) => status));
      }

      return statuses;
    };

    expect(await sendAll()).toEqual(Array(16).fill(200));
    expect(await usage()).toBe(await storedBytes());
    expect(await usage()).toBeGreaterThan(500_000);
    expect(await usage()).toBeLessThanOrEqual(1024 * 1024);
    const [{ kept }] = (await fitgraph.sql(
      'SELECT count(*)::int AS "kept" FROM "idempotency_key" WHERE "user_id" = $1 AND "status" IS NOT NULL',
      [annId],
    )) as [{ kept: number }];
    const again = await sendAll();

    expect([
      again.filter((status) => status === 200).length,
      again.filter((status) => status === 409).length,
    ]).toEqual([kept, 16 - kept]);
    expect(kept).toBeLessThan(16);
    expect(await rows()).toBe(before + 16);
  });

  test('does not count a response whose key was deleted meanwhile', async () => {
    const locker = await fitgraph.database.pool.connect();

    try {
      await locker.query('BEGIN; LOCK TABLE "weight_entry" IN EXCLUSIVE MODE');
      const before = await usage();
      const answer = as(ann).post('/weightentry/', ENTRY);

      await lockIsAwaited(fitgraph);
      expect(await storedKeys()).toHaveLength(1);
      await fitgraph.sql('DELETE FROM "idempotency_key" WHERE "key" = $1', [key]);
      await locker.query('COMMIT');
      expect((await answer).status).toBe(409);
      expect([await storedKeys(), await usage()]).toEqual([[], before]);
    } finally {
      locker.release(true);
    }
  });

  test('does not count expired responses', async () => {
    await fitgraph.sql('DELETE FROM "idempotency_key"');
    expect(await usage()).toBe(0);
    await as(ann).post('/weightentry/', ENTRY);
    expect(await usage()).toBe(await storedBytes());
    await fitgraph.sql(`UPDATE "idempotency_key" SET "at" = now() - interval '25 hours'`);
    await as(ann).post('/weightentry/', { ...ENTRY, date: '2021-03-12' });
    expect(await usage()).toBe(await storedBytes());
  });
});

test('returns 429 with Retry-After when a user has more than MAX_KEYS keys', async () => {
  const withFewKeys = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { MAX_KEYS: '3' },
  });

  try {
    await fitgraph.sql('DELETE FROM "idempotency_key"');
    const postWithKey = (person: Person, name: string) =>
      person
        .atInstance(withFewKeys.url)
        .withHeaders({ 'Idempotency-Key': name })
        .post('/workout/', { comment: name });
    const countWritten = async () =>
      Number(
        (await fitgraph.sql(`SELECT count(*) FROM "workout" WHERE "comment" LIKE 'bounded-%'`))[0]!
          .count,
      );
    const answers = [];

    for (const name of ['bounded-1', 'bounded-2', 'bounded-3', 'bounded-4']) {
      answers.push(await postWithKey(ann, name));
    }

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429]);
    expect(answers[3]!.headers.get('retry-after')).toBe('600');
    expect(answers[3]!.body.detail).toContain('3 Idempotency-Keys');
    expect(await countWritten()).toBe(3);
    const graphql = await ann
      .atInstance(withFewKeys.url)
      .withHeaders({ 'Idempotency-Key': 'bounded-5' })
      .query('mutation { createWorkout(input: { name: "bounded-5" }) { workout { id } } }');

    expect(graphql.code).toBe('TOO_MANY_REQUESTS');
    expect(graphql.errors![0]!.extensions.retryAfter).toBe(600);
    // Known keys still replay their responses, other users are not affected, and a new key is
    // accepted once an old one has expired.
    expect((await postWithKey(ann, 'bounded-1')).body).toEqual(answers[0]!.body);
    expect((await postWithKey(await fitgraph.user('somebody'), 'bounded-6')).status).toBe(201);
    await fitgraph.sql(
      `UPDATE "idempotency_key" SET "at" = now() - interval '25 hours' WHERE "key" = 'bounded-2'`,
    );
    expect((await postWithKey(ann, 'bounded-7')).status).toBe(201);
    expect(await countWritten()).toBe(5);
  } finally {
    await withFewKeys.stop();
  }
});

test('deletes expired keys', async () => {
  await as(ann).post('/weightentry/', ENTRY);
  const idempotency = new IdempotencyKeyStore(
    fitgraph.database,
    fitgraph.tokenVault,
    1_000_000,
    1_000,
  );

  await idempotency.deleteExpiredKeys();
  expect(await storedKeys()).toHaveLength(1);
  await fitgraph.sql(`UPDATE "idempotency_key" SET "at" = now() - interval '25 hours'`);
  await idempotency.deleteExpiredKeys();
  idempotency.stop();
  expect(await fitgraph.sql('SELECT 1 FROM "idempotency_key"')).toEqual([]);
});

test('adds three statements to a write with the header, and stores nothing without it', async () => {
  await fitgraph.sql('DELETE FROM "idempotency_key"');
  const plain = await ann.post('/weightentry/', ENTRY);

  expect(await fitgraph.sql('SELECT 1 FROM "idempotency_key"')).toEqual([]);
  const keyed = await as(ann).post('/weightentry/', { ...ENTRY, date: '2021-03-11' });

  expect(keyed.statements).toBe(plain.statements + 3);
});
