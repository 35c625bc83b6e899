/** The audit log: recorded events, access, rate limits, immutability and retention. */
import { SecurityEventPruner } from '../../src/accounts/security-events';
import { Visitor } from '../setup/visitor';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';

const fitgraph = fitgraphForThisFile({
  environment: { TRUSTED_PROXIES: '127.0.0.1, ::1', LOGIN_RATE: '100000/s' },
});

let users = 0;
const nextName = () => `user${(users += 1)}`;
const login = (username: string, password: string, address: string) =>
  fitgraph.anonymous
    .withHeaders({ 'X-Forwarded-For': address })
    .post('/login/', { username, password });

const EVENTS =
  '{ viewer { securityEvents(first: 100) { totalCount nodes { id occurredAt kind address detail wasTruncated } } } }';
const eventsOf = async (person: Person): Promise<Record<string, any>[]> =>
  (await person.ask(EVENTS)).viewer.securityEvents.nodes;
const kindsOf = async (person: Person) => (await eventsOf(person)).map(({ kind }) => kind);

const failuresFrom = (address: string) =>
  fitgraph.sql(
    `SELECT "user_id", "is_last" FROM "security_event" WHERE "kind" = 'SIGN_IN_FAILED' AND "address" = $1 ORDER BY "id"`,
    [address],
  );

test('records the security events of an account with addresses, newest first', async () => {
  const name = nextName();
  const ann = (await fitgraph.user(name)).withHeaders({ 'X-Forwarded-For': '198.51.100.7' });

  expect((await login(name, 'a wrong password', '203.0.113.9')).status).toBe(401);
  expect((await login(name, PASSWORD, '2001:db8:1:2:3:4:5:6')).status).toBe(200);
  const visitor = new Visitor(fitgraph.url, { 'X-Forwarded-For': '198.51.100.8' });

  await visitor.signIn(name, 'a wrong password');
  await visitor.signIn(name);
  await ann.ask(
    'mutation { createAccessToken(name: "Watch", scopes: [READ_BODY, WRITE_TRAINING]) { token } }',
  );
  await ann.ask('mutation { revokeAccessTokens { count } }');
  await ann.ask('mutation { endSessions { count } }');
  await ann.ask(
    'mutation { changePassword(oldPassword: "wrong", newPassword: "another password") { token } }',
  );
  const { changePassword } = await ann.ask(
    `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "another password") { token } }`,
  );
  const fresh = ann.withHeaders({ Authorization: `Token ${changePassword.token}` });
  const { replaceToken } = await fresh.ask('mutation { replaceToken { token } }');
  const events = await eventsOf(ann.withHeaders({ Authorization: `Token ${replaceToken.token}` }));

  expect(events.map(({ kind, address, detail }) => [kind, address, detail])).toEqual([
    ['API_KEY_REPLACED', '198.51.100.7', null],
    ['PASSWORD_CHANGED', '198.51.100.7', null],
    ['PASSWORD_REFUSED', '198.51.100.7', null],
    ['SESSIONS_ENDED', '198.51.100.7', '1'],
    ['ACCESS_TOKEN_REVOKED', '198.51.100.7', 'Watch'],
    ['ACCESS_TOKEN_CREATED', '198.51.100.7', 'Watch (READ_BODY, WRITE_TRAINING)'],
    ['SIGNED_IN', '198.51.100.8', null],
    ['SIGN_IN_FAILED', '198.51.100.8', null],
    ['SIGNED_IN', '2001:db8:1:2::/64', null],
    ['SIGN_IN_FAILED', '203.0.113.9', null],
  ]);
  expect(JSON.stringify(await fitgraph.sql('SELECT * FROM "security_event"'))).not.toMatch(
    /password"|fgt_|wrong/,
  );
});

test('shows users only their own events, in pages', async () => {
  const [name, other] = [nextName(), nextName()];
  const [ann, bob] = [await fitgraph.user(name), await fitgraph.user(other)];

  for (let time = 0; time < 5; time += 1) await login(name, PASSWORD, `192.0.2.${time}`);
  expect(await kindsOf(bob)).toEqual([]);
  const page = `query ($first: Int, $after: String, $last: Int, $before: String) { viewer {
    events: securityEvents(first: $first, after: $after, last: $last, before: $before) {
      totalCount nodes { address } edges { cursor node { address } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

  const read = async (variables: object) => {
    const { nodes, edges, ...rest } = (await ann.ask(page, { ...variables })).viewer.events;

    expect(edges.map(({ node }: { node: unknown }) => node)).toEqual(nodes);
    return {
      ...rest,
      last: nodes.map(({ address }: { address: string }) => Number(address.split('.')[3])),
    };
  };

  const first = await read({ first: 2 });

  expect(first).toMatchObject({
    totalCount: 5,
    last: [4, 3],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const second = await read({ first: 2, after: first.pageInfo.endCursor });

  expect(second).toMatchObject({
    last: [2, 1],
    pageInfo: { hasNextPage: true, hasPreviousPage: true },
  });
  expect(await read({ first: 2, after: second.pageInfo.endCursor })).toMatchObject({
    last: [0],
    pageInfo: { hasNextPage: false },
  });
  expect(await read({ last: 1, before: second.pageInfo.startCursor })).toMatchObject({
    last: [3],
    pageInfo: { hasPreviousPage: true },
  });
  expect(await read({ last: 2 })).toMatchObject({
    last: [1, 0],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });

  for (const variables of [
    { first: -1 },
    { first: 10_001 },
    { last: 10_001 },
    { after: 'x' },
    { before: 'event' },
    { first: 1, last: 1 },
  ]) {
    expect((await ann.query(page, variables)).code).toBe('BAD_USER_INPUT');
  }
});

test('hides the events of a former account with the same id', async () => {
  const name = nextName();
  const ann = await fitgraph.user(name);

  await fitgraph.sql(
    `INSERT INTO "security_event" ("kind", "user_id", "at") SELECT 'SIGNED_IN', "id", "created_at" - interval '1 second' FROM "user_account" WHERE "id" = $1`,
    [ann.id],
  );
  expect(await kindsOf(ann)).toEqual([]);
  await login(name, PASSWORD, '192.0.2.1');
  expect((await ann.ask(EVENTS)).viewer.securityEvents).toMatchObject({
    totalCount: 1,
    nodes: [{ address: '192.0.2.1' }],
  });
});

describe('the number of audit events', () => {
  test('is limited for failed logins per address and hour, and the last event is marked', async () => {
    const name = nextName();
    const ann = await fitgraph.user(name);
    const address = '203.0.113.77';

    // Alternates between an existing and an unknown name.
    for (let time = 0; time < 30; time += 1) {
      expect((await login(time % 2 ? name : 'nobody', 'a wrong password', address)).status).toBe(
        401,
      );
    }

    const recordedFailures = await failuresFrom(address);

    expect(recordedFailures.map(({ is_last }) => is_last)).toEqual([
      ...Array<boolean>(19).fill(false),
      true,
    ]);
    expect(recordedFailures.filter(({ user_id }) => user_id === null)).toHaveLength(10);
    // Successful logins and other addresses are still recorded.
    expect((await login(name, PASSWORD, address)).status).toBe(200);
    expect((await login(name, 'a wrong password', '203.0.113.78')).status).toBe(401);
    expect((await kindsOf(ann)).slice(0, 2)).toEqual(['SIGN_IN_FAILED', 'SIGNED_IN']);
    expect((await eventsOf(ann)).filter(({ wasTruncated }) => wasTruncated)).toHaveLength(1);
  });

  test('is limited for failed logins from all addresses together', async () => {
    const before = `INSERT INTO "security_event" ("kind", "address") SELECT 'SIGN_IN_FAILED', '198.18.0.' || n FROM generate_series(1, 200) n`;

    await fitgraph.sql(before);
    expect((await login('nobody', 'a wrong password', '203.0.113.200')).status).toBe(401);
    expect(await failuresFrom('203.0.113.200')).toEqual([]);
  });

  test('is limited per user, and further actions of the user are rejected', async () => {
    const ann = await fitgraph.user(nextName());
    const many = `INSERT INTO "security_event" ("kind", "user_id") SELECT 'ACCESS_TOKEN_CREATED', $1::int FROM generate_series(1, 59)`;

    await fitgraph.sql(many, [ann.id]);
    const create = (name: string) =>
      ann.query(`mutation { createAccessToken(name: "${name}", scopes: [READ]) { token } }`);

    expect((await create('sixtieth')).errors).toBeUndefined();
    expect((await create('one more')).errors).toMatchObject([
      { extensions: { code: 'TOO_MANY_REQUESTS', retryAfter: 3600 } },
    ]);
    const { viewer } = await ann.ask('{ viewer { accessTokens { name } } }');

    expect(viewer.accessTokens).toEqual([{ name: 'sixtieth' }]);
    expect((await eventsOf(ann))[0]).toMatchObject({ wasTruncated: true });
    // Revoking tokens is never limited.
    expect(await ann.ask('mutation { revokeAccessTokens { count } }')).toEqual({
      revokeAccessTokens: { count: 1 },
    });
  });
});

describe('a row of the audit log', () => {
  test.each([
    ['updated', `UPDATE "security_event" SET "address" = NULL`],
    ['deleted', `DELETE FROM "security_event"`],
    ['truncated', `TRUNCATE "security_event"`],
    ['truncated together with all accounts', `TRUNCATE "user_account", "security_event" CASCADE`],
  ])('cannot be %s', async (_what, statement) => {
    await fitgraph.sql(`INSERT INTO "security_event" ("kind") VALUES ('COMMAND')`);
    const count = () => fitgraph.sql('SELECT count(*) FROM "security_event"');
    const before = await count();

    await expect(fitgraph.sql(statement)).rejects.toThrow(
      'what is in security_event stays as it is',
    );
    expect(await count()).toEqual(before);
  });

  test('is deleted only after the retention period, which is at least 30 days', async () => {
    await fitgraph.sql(
      `INSERT INTO "security_event" ("kind", "detail", "at") SELECT 'COMMAND', d || ' days', now() - d * interval '1 day' FROM unnest(ARRAY[29, 31, 100]) d`,
    );
    const remainingEvents = async () =>
      (
        await fitgraph.sql(
          `SELECT "detail" FROM "security_event" WHERE "detail" LIKE '% days' ORDER BY "at"`,
        )
      ).map(({ detail }) => detail);
    const retention = (days: number) =>
      new SecurityEventPruner(fitgraph.database, days, fitgraph.services.log);

    const deleteExpired = async (days: number) => {
      const one = retention(days);

      await one.start().finally(() => one.stop());
    };

    await deleteExpired(90);
    expect(await remainingEvents()).toEqual(['31 days', '29 days']);
    await expect(deleteExpired(10)).rejects.toThrow('stays as it is');
    expect(await remainingEvents()).toEqual(['31 days', '29 days']);
    await expect(
      Fitgraph.start({ sameDatabaseAs: fitgraph, environment: { AUDIT_DAYS: '29' } }),
    ).rejects.toThrow('AUDIT_DAYS must be a whole number from 30');
  });
});
