/** Access tokens: several per user, each with a name, scopes and an optional expiry. */
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { allEntities, resourceOf } from '../../src/engine/declare/registry';
import { setUserActive, setPassword } from '../../src/accounts/accounts';
import { isScope } from '../../src/accounts/access-tokens';
import { Visitor } from '../setup/visitor';
import { plain } from '../files/pictures';
import { fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import { Person } from '../setup/person';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile({ environment: { MAX_TOKENS: '4' } });

const CREATE = `mutation ($name: String!, $scopes: [TokenScope!]!, $expiresAt: DateTime) {
  made: createAccessToken(name: $name, scopes: $scopes, expiresAt: $expiresAt) {
    token accessToken { id name scopes createdAt expiresAt isExpired lastUsedAt } errors { path code message }
  }
}`;
const LIST =
  '{ viewer { accessTokens { id name scopes createdAt expiresAt isExpired lastUsedAt } } }';

let users = 0;
const newUser = () => fitgraph.user(`user${(users += 1)}`);

const clientWithToken = (owner: Person, token: string) =>
  new Person(fitgraph.url, { id: owner.id, token });

/** Returns a client with a new access token of the owner. */
async function token(owner: Person, scopes: string[], name = scopes.join()): Promise<Person> {
  const { made } = await owner.ask(CREATE, { name, scopes });

  expect(made.errors).toEqual([]);
  return clientWithToken(owner, made.token);
}

const missingScopeError = (scope: string) => ({
  detail: `This token does not permit this: it lacks the scope ${scope}.`,
});

describe('createAccessToken', () => {
  test('returns the token once and stores only its hash', async () => {
    const ann = await newUser();
    const expiresAt = '2999-01-01T00:00:00+00:00';
    const { made } = await ann.ask(CREATE, {
      name: ' My watch ',
      scopes: ['WRITE_BODY', 'READ', 'READ'],
      expiresAt,
    });

    expect(made.token).toMatch(/^fgt_[0-9a-f]{48}$/);
    const expectedToken = {
      id: expect.any(String),
      name: 'My watch',
      scopes: ['READ', 'WRITE_BODY'],
      isExpired: false,
      lastUsedAt: null,
    };

    expect(made.accessToken).toMatchObject(expectedToken);
    expect(Date.parse(made.accessToken.expiresAt)).toBe(Date.parse(expiresAt));
    const listed = await ann.query(LIST);

    expect(listed.data.viewer.accessTokens).toEqual([made.accessToken]);
    expect(listed.text).not.toContain(made.token);
    const rows = JSON.stringify(
      await fitgraph.sql('SELECT t.*, encode("digest", \'escape\') FROM "access_token" t'),
    );

    expect(rows).not.toContain(made.token.slice(4));
    expect(await clientWithToken(ann, made.token).get('/weightentry/')).toMatchObject({
      status: 200,
    });
    // The API key is unchanged.
    expect(
      await fitgraph.anonymous.post('/login/', { username: `user${users}`, password: PASSWORD }),
    ).toMatchObject({
      body: { token: ann.token },
    });
  });

  test('returns a token that REST accepts as `Bearer`, too, whereas it ignores other Bearer headers', async () => {
    const ann = await newUser();
    const reader = await token(ann, ['READ']);
    const get = (header: string, path = '/weightentry/') =>
      fitgraph.anonymous.withHeaders({ Authorization: header }).get(path);

    for (const scheme of ['Bearer', 'bearer', 'Token']) {
      expect(await get(`${scheme} ${reader.token}`)).toMatchObject({ status: 200 });
    }

    const post = await fitgraph.anonymous
      .withHeaders({ Authorization: `Bearer ${reader.token}` })
      .post('/weightentry/', { date: '2024-01-01', weight: 80 });

    expect(post).toMatchObject({ status: 403, body: missingScopeError('WRITE_BODY') });
    const revoked = `fgt_${'0'.repeat(48)}`;

    expect(await get(`Bearer ${revoked}`, '/language/')).toMatchObject({
      status: 403,
      body: { detail: 'Invalid token.' },
    });

    for (const header of [
      `Bearer ${ann.token}`,
      'Bearer',
      'Bearer fgt_1',
      `Bearer ${reader.token} more`,
    ]) {
      expect([
        header,
        (await get(header, '/language/')).status,
        (await get(header)).status,
      ]).toEqual([header, 200, 403]);
    }
  });

  test.each([
    ['a blank name', { name: ' ', scopes: ['READ'] }, 'name'],
    ['a name that is too long', { name: 'n'.repeat(101), scopes: ['READ'] }, 'name'],
    ['a NUL in the name', { name: 'a\0b', scopes: ['READ'] }, 'name'],
    ['an empty list of scopes', { name: 'a', scopes: [] }, 'scopes'],
    [
      'an expiry in the past',
      { name: 'a', scopes: ['READ'], expiresAt: '2020-01-01T00:00:00Z' },
      'expiresAt',
    ],
  ])('rejects %s at its field', async (_what, variables, path) => {
    const ann = await fitgraph.user('careless');
    const { made } = await ann.ask(CREATE, variables);

    expect(made).toMatchObject({
      token: null,
      accessToken: null,
      errors: [{ path: [path], message: expect.any(String) }],
    });
  });

  test('rejects a duplicate name, and more than MAX_TOKENS tokens even when created concurrently', async () => {
    const ann = await newUser();

    await token(ann, ['READ'], 'one');
    const duplicate = await ann.ask(CREATE, { name: 'one', scopes: ['READ'] });

    expect(duplicate.made.errors).toMatchObject([
      { path: ['name'], message: 'You already have an access token with this name.' },
    ]);
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ann.ask(CREATE, { name, scopes: ['READ'] })),
    );
    const rejectedAnswers = answers.filter(({ made }) => made.token === null);

    expect(rejectedAnswers).toHaveLength(3);
    for (const { made } of rejectedAnswers) expect(made.errors).toMatchObject([{ path: [] }]);
    expect((await ann.ask(LIST)).viewer.accessTokens).toHaveLength(4);
  });

  test('rejects an unknown scope', async () => {
    const ann = await newUser();

    expect((await ann.query(CREATE, { name: 'a', scopes: ['EVERYTHING'] })).code).toBe(
      'BAD_USER_INPUT',
    );
  });
});

describe('token scopes', () => {
  test('exist for the group of every resource', () => {
    const groups = allEntities().flatMap((entity) => resourceOf(entity)!.scopeGroup ?? []);

    expect(groups.filter((group) => !isScope(`read:${group}`))).toEqual([]);
  });

  test('cover every resource, public ones as part of the catalogue', () => {
    for (const entity of allEntities()) {
      const { isOwned, scopeGroup } = resourceOf(entity)!;

      expect([entity.name, scopeGroup]).toEqual([
        entity.name,
        isOwned ? expect.not.stringMatching('catalogue') : 'catalogue',
      ]);
    }
  });

  test('restrict reads and writes over REST per group, with 403', async () => {
    const ann = await newUser();
    const entry = (await ann.post('/weightentry/', { date: '2026-01-01', weight: '80.00' })).body;
    const body = { date: '2026-01-02', weight: '81.00' };
    const reader = await token(ann, ['READ']);
    const bodyReader = await token(ann, ['READ_BODY']);
    const bodyWriter = await token(ann, ['WRITE_BODY']);
    const trainer = await token(ann, ['WRITE_TRAINING']);

    for (const person of [reader, bodyReader, bodyWriter]) {
      expect((await person.get('/weightentry/')).body.count).toBe(1);
      expect((await person.get(`/weightentry/${entry.id}/`)).body).toEqual(entry);
    }

    for (const person of [reader, bodyReader]) {
      const missingScope = { status: 403, body: missingScopeError('WRITE_BODY') };

      expect(await person.post('/weightentry/', body)).toMatchObject(missingScope);
      expect(await person.post('/weightentry/', { weight: 'x' })).toMatchObject(missingScope);
      expect(await person.put(`/weightentry/${entry.id}/`, body)).toMatchObject(missingScope);
      expect(await person.patch(`/weightentry/${entry.id}/`, { weight: '1' })).toMatchObject(
        missingScope,
      );
      expect(await person.delete(`/weightentry/${entry.id}/`)).toMatchObject(missingScope);
      expect((await person.options('/weightentry/')).body.actions).toBeUndefined();
    }

    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE']) {
      expect(
        (
          await trainer.send(
            method,
            `/api/v2/weightentry/${method === 'POST' ? '' : `${entry.id}/`}`,
          )
        ).status,
      ).toBe(403);
    }

    expect((await trainer.get('/weightentry/')).body).toEqual(missingScopeError('READ_BODY'));
    expect((await bodyWriter.get('/userprofile/')).body).toEqual(missingScopeError('READ_ACCOUNT'));
    expect((await bodyWriter.options('/weightentry/')).body.actions).toHaveProperty('POST');
    expect((await bodyWriter.post('/weightentry/', body)).status).toBe(201);
    // Many clients send the whole row, including its owner.
    expect(
      (await bodyWriter.put(`/weightentry/${entry.id}/`, { ...entry, weight: '79.00' })).status,
    ).toBe(200);
    expect((await bodyWriter.patch(`/weightentry/${entry.id}/`, { weight: '79.50' })).status).toBe(
      200,
    );
    expect((await bodyWriter.delete(`/weightentry/${entry.id}/`)).status).toBe(204);

    // Public data needs no scope, and other errors are independent of scopes.
    for (const person of [trainer, bodyReader]) {
      expect((await person.get('/exercise/?limit=1')).status).toBe(200);
      expect((await person.get('/ingredient/search/?term=app')).status).toBe(200);
      expect((await person.post('/language/', {})).status).toBe(
        (await ann.post('/language/', {})).status,
      );
    }
  });

  test('restrict GraphQL per field, with an error that names the missing scope', async () => {
    const ann = await newUser();

    await ann.post('/weightentry/', { date: '2026-01-01', weight: '80.00' });
    const trainer = await token(ann, ['READ_TRAINING']);
    const answer = await trainer.query('{ weightEntries { totalCount } }');

    expect(answer.errors).toMatchObject([
      {
        ...{ message: missingScopeError('READ_BODY').detail },
        extensions: { code: 'FORBIDDEN', scope: 'READ_BODY' },
      },
    ]);
    expect((await trainer.query('{ workouts { totalCount } }')).data).toEqual({
      workouts: { totalCount: 0 },
    });
    const create = 'mutation { createWorkout(input: { name: "x" }) { workout { id } } }';

    expect((await trainer.query(create)).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', scope: 'WRITE_TRAINING' } },
    ]);
    expect((await trainer.query('{ viewer { username } }')).errors).toMatchObject([
      { extensions: { scope: 'READ_ACCOUNT' } },
    ]);
    expect((await trainer.query('{ changes { cursor } }')).code).toBe('FORBIDDEN');
    expect(
      (await trainer.query('{ changes(types: [WORKOUT, EXERCISE]) { cursor } }')).errors,
    ).toBeUndefined();
    expect(
      (await trainer.query('{ changes(types: [WORKOUT, WEIGHT_ENTRY]) { cursor } }')).errors,
    ).toMatchObject([{ extensions: { scope: 'READ_BODY' } }]);
    // Rows are inaccessible by node id, by a condition and below a public row, too.
    const { weightEntries } = await ann.ask('{ weightEntries { nodes { nodeId } } }');
    const node =
      'query ($id: ID!) { node(nodeId: $id) { nodeId } nodes(nodeIds: [$id]) { nodeId } }';
    const found = await trainer.query(node, { id: weightEntries.nodes[0].nodeId });

    expect(found.data).toEqual({ node: null, nodes: [null] });
    const condition = '{ ingredients(where: { diaryEntries: { some: {} } }) { totalCount } }';

    expect((await trainer.query(condition)).errors).toMatchObject([
      { extensions: { scope: 'READ_NUTRITION' } },
    ]);
    const nutrition = await trainer.query(
      '{ ingredients(first: 1) { nodes { diaryEntries { totalCount } } } }',
    );

    expect(nutrition.errors).toMatchObject([{ extensions: { scope: 'READ_NUTRITION' } }]);
    expect(nutrition.data.ingredients.nodes).toEqual([{ diaryEntries: null }]);
    expect((await ann.query(create)).errors).toBeUndefined();
  });

  test('exclude rows of other groups from computed values', async () => {
    const ann = await newUser();

    await ann.post('/weightentry/', { date: '2026-01-01', weight: '80.00' });
    const plan = (await ann.post('/nutritionplan/', {})).body;
    const meal = (await ann.post('/meal/', { plan: plan.id, order: 1 })).body;

    expect(
      (await ann.post('/mealitem/', { meal: meal.id, ingredient: 1, order: 1, amount: '100' }))
        .status,
    ).toBe(201);
    const nutritionist = await token(ann, ['READ_NUTRITION']);
    const path = `/nutritionplan/${plan.id}/nutritional_values/`;

    // Asks twice, because computed values are cached.
    for (const _time of [1, 2]) {
      const [whole, part] = [await ann.get(path), await nutritionist.get(path)];

      expect(part.body.total).toEqual(whole.body.total);
      expect(Object.values(whole.body.per_kg).some((value) => Number(value) > 0)).toBe(true);
      expect(Object.values(part.body.per_kg).some((value) => Number(value) > 0)).toBe(false);
    }
  });

  test('restrict uploads over REST and GraphQL', async () => {
    const ann = await newUser();
    const [{ id: base }] = (await fitgraph.sql(
      'SELECT "id" FROM "exercise_base" ORDER BY "id" LIMIT 1',
    )) as [{ id: number }];

    const form = async () => {
      const data = new FormData();

      data.set('exercise', String(base));
      data.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
      return data;
    };

    const graphql = async () => {
      const data = new FormData();
      const query = `mutation ($image: Upload!) { createExerciseImage(input: { image: $image, exerciseId: ${base} }) { exerciseImage { id } errors { path message } } }`;

      data.set('operations', JSON.stringify({ query, variables: { image: null } }));
      data.set('map', JSON.stringify({ 0: ['variables.image'] }));
      data.set('0', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'b.png');
      return data;
    };

    const preflight = { 'apollo-require-preflight': 'yes' };
    const reader = await token(ann, ['READ', 'WRITE_BODY']);

    expect(await reader.send('POST', '/api/v2/exerciseimage/', await form())).toMatchObject({
      status: 403,
      body: missingScopeError('WRITE_CATALOGUE'),
    });
    const rejected = await reader.withHeaders(preflight).send('POST', '/graphql', await graphql());

    expect(rejected.body.errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN', scope: 'WRITE_CATALOGUE' } },
    ]);
    expect(
      await fitgraph.sql('SELECT 1 FROM "exercise_image_contributor" WHERE "user_id" = $1', [
        ann.id,
      ]),
    ).toEqual([]);
    const writer = await token(ann, ['WRITE_CATALOGUE']);

    expect((await writer.send('POST', '/api/v2/exerciseimage/', await form())).status).toBe(201);
    const made = await writer.withHeaders(preflight).send('POST', '/graphql', await graphql());

    expect(made.body).toMatchObject({ data: { createExerciseImage: { errors: [] } } });
  });

  test('restrict subscriptions over server-sent events and WebSockets', async () => {
    const ann = await newUser();
    const trainer = await token(ann, ['READ_TRAINING']);

    const stream = async (query: string) => {
      const end = new AbortController();
      const response = await fetch(`${fitgraph.url}/graphql/stream`, {
        method: 'POST',
        signal: end.signal,
        headers: {
          Accept: 'text/event-stream',
          'Content-Type': 'application/json',
          Authorization: `Token ${trainer.token}`,
        },
        body: JSON.stringify({ query }),
      });
      let text = '';
      const decoder = new TextDecoder();

      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        if (/"data"|"errors"/.test((text += decoder.decode(chunk)))) break;
      }

      end.abort();
      return text;
    };

    expect(await stream('subscription { changed(types: [WORKOUT]) { cursor } }')).toMatch(
      /"changed":\{"cursor"/,
    );
    expect(await stream('subscription { changed(types: [WEIGHT_ENTRY]) { cursor } }')).toContain(
      '"scope":"READ_BODY"',
    );
    const client = createClient({
      url: `${fitgraph.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { Authorization: `Token ${trainer.token}` },
    });
    const events = client.iterate({ query: 'subscription { changed { cursor } }' });
    const { value } = await events.next();

    expect(value.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    await client.dispose();
  });

  test('restrict the responses stored for an Idempotency-Key', async () => {
    const ann = await newUser();
    const body = { date: '2026-03-01', weight: '80.00' };
    const query =
      'mutation { createWeightEntry(input: { date: "2026-03-02", weight: "80" }) { weightEntry { id } } }';
    const key = { 'Idempotency-Key': 'one-and-the-same' };
    const other = { 'Idempotency-Key': 'another-key' };

    expect((await ann.withHeaders(key).post('/weightentry/', body)).status).toBe(201);
    expect((await ann.withHeaders(other).query(query)).errors).toBeUndefined();
    const trainer = await token(ann, ['WRITE_TRAINING']);

    expect((await trainer.withHeaders(key).post('/weightentry/', body)).status).toBe(403);
    const answer = await trainer.withHeaders(other).query(query);

    expect([answer.status, answer.data]).toEqual([422, undefined]);
    const writer = (await token(ann, ['WRITE_BODY'])).withHeaders({
      'Idempotency-Key': 'a-third-key',
    });
    const [first, second] = [
      await writer.post('/weightentry/', { ...body, date: '2026-03-03' }),
      await writer.post('/weightentry/', { ...body, date: '2026-03-03' }),
    ];

    expect([first.status, second.text]).toEqual([201, first.text]);
  });

  test('never include passwords, tokens or sessions', async () => {
    const ann = await newUser();
    const writer = await token(ann, ['WRITE']);

    for (const query of [
      `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "another password") { token } }`,
      'mutation { replaceToken { token } }',
      'mutation { createAccessToken(name: "more", scopes: [WRITE]) { token } }',
      'mutation { revokeAccessToken(id: 1) { revokedId } }',
      'mutation { revokeAccessTokens { count } }',
      'mutation { endSessions { count } }',
      '{ viewer { accessTokens { id } } }',
      '{ viewer { securityEvents { nodes { id } } } }',
    ]) {
      expect([query, (await writer.query(query)).code]).toEqual([query, 'FORBIDDEN']);
    }

    expect((await fitgraph.anonymous.query('mutation { endSessions { count } }')).code).toBe(
      'UNAUTHENTICATED',
    );
    expect((await writer.query('{ viewer { username } }')).errors).toBeUndefined();
  });

  test('show unreviewed exercises to a superuser only with READ_CATALOGUE', async () => {
    const boss = await fitgraph.user('boss', { isSuperuser: true });
    const [{ id }] = (await fitgraph.sql(
      `UPDATE "exercise" SET "status" = '1' WHERE "id" = (SELECT max("id") FROM "exercise") RETURNING "id"`,
    )) as [{ id: number }];
    const ask = async (person: Person) =>
      (await person.ask(`{ exercise(id: ${id}) { id } }`)).exercise;

    expect(await ask(boss)).toEqual({ id: String(id) });
    expect(await ask(await token(boss, ['READ_CATALOGUE']))).toEqual({ id: String(id) });
    expect(await ask(await token(boss, ['READ_BODY']))).toBeNull();
  });
});

describe('an access token', () => {
  const isAccepted = async (person: Person) => (await person.get('/weightentry/')).status === 200;

  test('is revoked alone or with all others, without affecting other users', async () => {
    const [ann, bob] = [await newUser(), await newUser()];
    const [one, two, three] = [
      await token(ann, ['READ'], '1'),
      await token(ann, ['READ'], '2'),
      await token(ann, ['READ'], '3'),
    ];
    const bobs = await token(bob, ['READ']);
    const [{ id }] = (await ann.ask(LIST)).viewer.accessTokens;
    const revoke =
      'mutation ($id: ID!) { revokeAccessToken(id: $id) { revokedId errors { path code } } }';
    const unknown = {
      revokeAccessToken: { revokedId: null, errors: [{ path: ['id'], code: 'NOT_FOUND' }] },
    };

    expect(await bob.ask(revoke, { id })).toEqual(unknown);
    expect(await isAccepted(one)).toBe(true);
    expect(await ann.ask(revoke, { id })).toEqual({
      revokeAccessToken: { revokedId: id, errors: [] },
    });

    for (const again of [id, 'x', '9999999999']) {
      expect(await ann.ask(revoke, { id: again })).toEqual(unknown);
    }

    expect(await one.get('/weightentry/')).toMatchObject({
      status: 403,
      body: { detail: 'Invalid token.' },
    });
    expect([await isAccepted(two), await isAccepted(three)]).toEqual([true, true]);
    expect(await ann.ask('mutation { revokeAccessTokens { count } }')).toEqual({
      revokeAccessTokens: { count: 2 },
    });
    expect([
      await isAccepted(two),
      await isAccepted(three),
      await isAccepted(bobs),
      await isAccepted(ann),
    ]).toEqual([false, false, true, true]);
  });

  test('is rejected once it expires', async () => {
    const ann = await newUser();
    const watch = await token(ann, ['READ']);

    await fitgraph.sql(`UPDATE "access_token" SET "expires_at" = now() WHERE "user_id" = $1`, [
      ann.id,
    ]);
    expect(await watch.get('/weightentry/')).toMatchObject({
      status: 403,
      body: { detail: 'Token expired.' },
    });
    expect(await watch.query('{ workouts { totalCount } }')).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
    });
    expect((await ann.ask(LIST)).viewer.accessTokens).toMatchObject([{ isExpired: true }]);
    await fitgraph.sql(
      `UPDATE "access_token" SET "expires_at" = now() - interval '31 days' WHERE "user_id" = $1`,
      [ann.id],
    );
    await token(ann, ['READ'], 'new');
    expect((await ann.ask(LIST)).viewer.accessTokens).toMatchObject([{ name: 'new' }]);
  });

  test('is revoked by a new password and suspended while the account is deactivated', async () => {
    const ann = await newUser();
    const session = fitgraph.database.createSession();
    const watch = await token(ann, ['READ']);

    await setUserActive(ann.id, false, session);
    expect(await watch.get('/weightentry/')).toMatchObject({
      status: 403,
      body: { detail: 'User inactive or deleted.' },
    });
    await setUserActive(ann.id, true, session);
    expect(await isAccepted(watch)).toBe(true);
    await setPassword(ann.id, 'another password', session);
    expect(await isAccepted(watch)).toBe(false);
  });

  test('is not revoked by a login that renews the hash of an imported password', async () => {
    const ann = await newUser();
    const watch = await token(ann, ['READ']);
    // The hash of PASSWORD with a single iteration, which a login renews.
    const { pbkdf2Sync } = await import('node:crypto');
    const digest = pbkdf2Sync(PASSWORD, 'salt', 1, 32, 'sha256').toString('base64');

    await fitgraph.sql(
      `BEGIN; SET LOCAL fitgraph.same_password = 'on'; UPDATE "user_account" SET "password" = 'pbkdf2_sha256$1$salt$${digest}' WHERE "id" = ${ann.id}; COMMIT`,
    );
    expect(
      (await fitgraph.anonymous.post('/login/', { username: `user${users}`, password: PASSWORD }))
        .status,
    ).toBe(200);
    expect(await isAccepted(watch)).toBe(true);
  });

  test('ends its subscriptions when it is revoked', async () => {
    const ann = await newUser();
    const watch = await token(ann, ['READ']);
    const client = createClient({
      url: `${fitgraph.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { Authorization: `Token ${watch.token}` },
    });
    const events = client.iterate<any>({ query: 'subscription { changed { changes { rowId } } }' });

    expect((await events.next()).value.data.changed.changes).toEqual([]);
    await ann.ask('mutation { revokeAccessTokens { count } }');
    await ann.post('/weightentry/', { date: '2026-01-01', weight: '80.00' });
    expect((await events.next()).value.data?.changed ?? null).toBeNull();
    await client.dispose();
  });
});

test('updates lastUsedAt only after a while, not on every request', async () => {
  const ann = await newUser();
  const watch = await token(ann, ['READ']);
  const lastUsedAt = async () =>
    (await ann.ask(LIST)).viewer.accessTokens[0].lastUsedAt as string | null;

  expect(await lastUsedAt()).toBeNull();
  await Promise.all(Array.from({ length: 10 }, () => watch.get('/weightentry/')));
  await until('lastUsedAt is set', async () => (await lastUsedAt()) !== null);
  const xmin = async () =>
    (await fitgraph.sql('SELECT xmin::text FROM "access_token" WHERE "user_id" = $1', [ann.id]))[0]!
      .xmin;
  const before = await xmin();

  for (let time = 0; time < 5; time += 1) await watch.get('/weightentry/');
  expect(await xmin()).toBe(before);
  await fitgraph.sql(
    `UPDATE "access_token" SET "last_used_at" = now() - interval '11 minutes' WHERE "user_id" = $1`,
    [ann.id],
  );
  const stale = await lastUsedAt();

  await watch.get('/weightentry/');
  await until('lastUsedAt is updated', async () => (await lastUsedAt()) !== stale);
});

test('needs as many statements with an access token as with the API key', async () => {
  const ann = await newUser();
  const watch = await token(ann, ['READ']);

  await watch.get('/weightentry/');
  expect((await watch.get('/weightentry/')).statements).toBe(
    (await ann.get('/weightentry/')).statements,
  );
});

test('ends all browser sessions on endSessions and keeps access tokens', async () => {
  const ann = await newUser();
  const visitors = [new Visitor(fitgraph.url), new Visitor(fitgraph.url)];

  for (const visitor of visitors) await visitor.signIn(`user${users}`);
  const watch = await token(ann, ['READ']);

  expect(await ann.ask('mutation { endSessions { count } }')).toEqual({
    endSessions: { count: 2 },
  });
  for (const visitor of visitors) expect((await visitor.get('/user/api-key')).status).toBe(303);
  expect((await watch.get('/weightentry/')).status).toBe(200);
});
