/** Administration of accounts by superusers in GraphQL: access, effects, audit log, races. */
import { Client } from 'pg';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import { Visitor } from '../setup/visitor';

const fitgraph = fitgraphForThisFile();
let root: Person;

beforeAll(async () => {
  root = await fitgraph.user('root', { isSuperuser: true });
});

const FIELDS = 'id username email isActive isSuperuser isCurator joinedAt lastLoginAt';
const LIST = `query ($search: String, $isActive: Boolean, $isSuperuser: Boolean, $isCurator: Boolean,
    $first: Int, $after: String, $last: Int, $before: String) {
  accounts(search: $search, isActive: $isActive, isSuperuser: $isSuperuser, isCurator: $isCurator,
      first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { ${FIELDS} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

/** Each operation of superusers, for the account with this id. */
const OPERATIONS: [string, (id: number) => string][] = [
  ['accounts', () => '{ accounts { nodes { id username usage { rowCount } } } }'],
  ['createUser', () => 'mutation { createUser(username: "intruder") { id } }'],
  ['setUserRoles', (id) => `mutation { setUserRoles(id: ${id}, isCurator: true) { id } }`],
  ['setUserActive', (id) => `mutation { setUserActive(id: ${id}, isActive: false) { id } }`],
  ['signOutUser', (id) => `mutation { signOutUser(id: ${id}) { id } }`],
  ['createPasswordLink', (id) => `mutation { createPasswordLink(id: ${id}) { url } }`],
  ['disconnectUser', (id) => `mutation { disconnectUser(id: ${id}) { id } }`],
  ['endUserSession', (id) => `mutation { endUserSession(id: ${id}, sessionId: "x") { id } }`],
  [
    'revokeUserAccessToken',
    (id) => `mutation { revokeUserAccessToken(id: ${id}, accessTokenId: 1) { id } }`,
  ],
  ['deleteUser', (id) => `mutation { deleteUser(id: ${id}) { id } }`],
];

const accountRows = () => fitgraph.sql('SELECT * FROM "user_account" ORDER BY "id"');

async function accessTokenOf(person: Person): Promise<Person> {
  const { createAccessToken } = await person.ask(
    'mutation { createAccessToken(name: "all", scopes: [WRITE]) { token } }',
  );

  return fitgraph.anonymous.withHeaders({ Authorization: `Bearer ${createAccessToken.token}` });
}

async function eventsOf(id: number): Promise<Record<string, unknown>[]> {
  return fitgraph.sql(
    'SELECT "kind", "operator", "address", "detail" FROM "security_event" WHERE "user_id" = $1 ORDER BY "id" DESC',
    [id],
  );
}

const BY_ROOT = { operator: 'superuser root', address: expect.any(String) };

describe('access', () => {
  let ann: Person;
  let bob: Person;
  let clients: [string, Person, string][];

  beforeAll(async () => {
    [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
    const former = await fitgraph.user('former', { isSuperuser: true });

    await root.ask(`mutation { setUserRoles(id: ${former.id}, isSuperuser: false) { id } }`);
    await root.ask(`mutation { setUserRoles(id: ${ann.id}, isCurator: true) { id } }`);
    clients = [
      ['anonymous client', fitgraph.anonymous, 'UNAUTHENTICATED'],
      ['ordinary user', bob, 'FORBIDDEN'],
      ['curator', ann, 'FORBIDDEN'],
      ['former superuser', former, 'FORBIDDEN'],
      ['access token of a superuser', await accessTokenOf(root), 'FORBIDDEN'],
    ];
  });

  test.each(OPERATIONS)('%s is for superusers only', async (name, document) => {
    const before = await accountRows();

    for (const [client, person, code] of clients) {
      const answer = await person.query(document(bob.id));

      expect([client, answer.code, answer.data?.[name] ?? null]).toEqual([client, code, null]);
      expect(answer.text).not.toContain('"username"');
    }

    expect(await accountRows()).toEqual(before);
    expect((await bob.query('{ viewer { username } }')).data).toEqual({
      viewer: { username: 'bob' },
    });
  });

  test.each(OPERATIONS)('a superuser with an API key may use %s', async (name, document) => {
    const target = await fitgraph.user(`target-of-${name}`);

    expect((await root.ask(document(target.id)))[name]).toBeTruthy();
  });

  test('a superuser with a session needs its CSRF token for changes', async () => {
    const visitor = new Visitor(fitgraph.url);
    const target = await fitgraph.user('target-of-session');
    const query = `mutation { setUserActive(id: ${target.id}, isActive: false) { isActive } }`;

    await visitor.signIn('root');
    const rejected = await visitor.json('POST', '/graphql', { query });
    const accepted = await visitor.json(
      'POST',
      '/graphql',
      { query },
      { 'X-CSRFToken': await visitor.csrfToken() },
    );

    expect(JSON.parse(rejected.text).errors[0].extensions.code).toBe('FORBIDDEN');
    expect(JSON.parse(accepted.text).data).toEqual({ setUserActive: { isActive: false } });
  });

  test('administration cannot be part of an @atomic operation', async () => {
    const { errors } = await root.query(
      `mutation @atomic { setUserActive(id: ${bob.id}, isActive: false) { id } }`,
    );

    expect(errors![0]!.extensions.code).toBe('BAD_REQUEST');
  });
});

describe('accounts', () => {
  const names = ['list-a', 'list-b', 'list-c', 'list-d'];

  beforeAll(async () => {
    for (const name of names) {
      await root.ask(
        `mutation { createUser(username: "${name}", email: "${name}@Mail.example") { id } }`,
      );
    }
  });

  const list = async (variables: object) => (await root.ask(LIST, { ...variables })).accounts;
  const namesOf = ({ nodes }: { nodes: { username: string }[] }) =>
    nodes.map(({ username }) => username);

  test('are found by parts of the name and of the e-mail address, newest first', async () => {
    expect(await list({ search: 'LIST-', first: 1 })).toMatchObject({
      totalCount: 4,
      nodes: [
        {
          username: 'list-d',
          email: 'list-d@Mail.example',
          isActive: true,
          isSuperuser: false,
          isCurator: false,
          lastLoginAt: null,
        },
      ],
    });
    expect(namesOf(await list({ search: 'b@mail.EX' }))).toEqual(['list-b']);
    expect(namesOf(await list({ search: '%' }))).toEqual([]);
    expect(
      namesOf(
        await list({ search: null, isActive: null, isSuperuser: null, isCurator: null, first: 4 }),
      ),
    ).toContain('list-d');
  });

  test('are filtered by state and roles', async () => {
    const [{ id }] = (await list({ search: 'list-c' })).nodes;

    await root.ask(
      `mutation { setUserActive(id: ${id}, isActive: false) { id } setUserRoles(id: ${id}, isCurator: true) { id } }`,
    );
    expect(namesOf(await list({ search: 'list-', isActive: false }))).toEqual(['list-c']);
    expect(namesOf(await list({ search: 'list-', isCurator: true }))).toEqual(['list-c']);
    expect(namesOf(await list({ search: 'list-', isCurator: false, isActive: true }))).toEqual([
      'list-d',
      'list-b',
      'list-a',
    ]);
    expect(namesOf(await list({ isSuperuser: true, search: 'root' }))).toEqual(['root']);
  });

  test('are read in pages in both directions', async () => {
    const first = await list({ search: 'list-', first: 3 });

    expect([namesOf(first), first.pageInfo.hasNextPage]).toEqual([
      ['list-d', 'list-c', 'list-b'],
      true,
    ]);
    const second = await list({ search: 'list-', first: 3, after: first.pageInfo.endCursor });

    expect([namesOf(second), second.pageInfo]).toMatchObject([
      ['list-a'],
      { hasNextPage: false, hasPreviousPage: true },
    ]);
    expect(
      namesOf(await list({ search: 'list-', last: 2, before: second.pageInfo.startCursor })),
    ).toEqual(['list-c', 'list-b']);
  });

  test.each([
    { search: 'a\0b' },
    { search: 'a'.repeat(255) },
    { first: -1 },
    { first: 10_001 },
    { first: 1, last: 1 },
    { after: 'x' },
    { after: Buffer.from('["event",1]').toString('base64url') },
  ])('reject %j', async (variables) => {
    const { code, errors } = await root.query(LIST, variables);

    expect(code).toBe('BAD_USER_INPUT');
    expect(errors![0]!.extensions.inputErrors).toHaveLength(1);
  });

  test.each(['after', 'before'])('accept the largest id in the cursor %s', async (argument) => {
    const cursorOf = (kind: string) =>
      Buffer.from(JSON.stringify([kind, Number.MAX_SAFE_INTEGER])).toString('base64url');

    expect((await list({ [argument]: cursorOf('account'), first: 1 })).nodes).toHaveLength(
      argument === 'after' ? 1 : 0,
    );
    await root.ask(
      `{ viewer { securityEvents(${argument}: "${cursorOf('event')}") { nodes { id } } } }`,
    );
  });

  test('have their sessions, tokens, rows and bytes, in one statement for all', async () => {
    const ann = await fitgraph.user('usage');

    await ann.post('/workout/', { comment: 'mine' });
    await ann.ask('mutation { createAccessToken(name: "one", scopes: [READ]) { token } }');
    await new Visitor(fitgraph.url).signIn('usage');
    const query = jest.spyOn(Client.prototype, 'query');

    const usageOf = async (search: string) => {
      query.mockClear();
      const { accounts } = await root.ask(
        `{ accounts(search: "${search}", first: 100) { nodes { usage { sessionCount accessTokenCount rowCount imageBytes } } } }`,
      );
      const texts = query.mock.calls.map(([statement]) => (statement as { text?: string }).text);

      return {
        accounts: accounts.nodes as { usage: object }[],
        statements: ['LIMIT $8', 'imageBytes'].map(
          (word) => texts.filter((text) => text?.includes(word)).length,
        ),
      };
    };

    const one = await usageOf('usage');
    const many = await usageOf('');

    expect(one.accounts).toEqual([
      // The account, its profile and a workout.
      { usage: { sessionCount: 1, accessTokenCount: 1, rowCount: 3, imageBytes: 0 } },
    ]);
    expect(many.accounts.length).toBeGreaterThan(5);
    expect([one.statements, many.statements]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    query.mockRestore();
  });
});

describe('changes', () => {
  test('create an account without a known password, or with one', async () => {
    const { createUser } = await root.ask(
      `mutation { createUser(username: "new", email: "new@mail.example") { ${FIELDS} } }`,
    );

    expect(createUser).toMatchObject({ username: 'new', isActive: true, isSuperuser: false });
    expect(await eventsOf(createUser.id)).toEqual([
      { kind: 'ACCOUNT_CREATED', detail: null, ...BY_ROOT },
    ]);
    await root.ask(`mutation { createUser(username: "known", password: "${PASSWORD}") { id } }`);
    expect(
      (await fitgraph.anonymous.post('/login/', { username: 'known', password: PASSWORD })).status,
    ).toBe(200);
  });

  test.each([
    ['username: "a b"', 'BAD_USER_INPUT', /user name/],
    [`username: "${'a'.repeat(151)}"`, 'BAD_USER_INPUT', /user name/],
    ['username: "root"', 'CONFLICT', /a user named root already/],
    ['username: "x", email: "nobody"', 'BAD_USER_INPUT', /e-mail address/],
    ['username: "x", email: "a\\u0000@b.example"', 'BAD_USER_INPUT', /e-mail address/],
    [`username: "x", email: "a@${'b'.repeat(250)}.example"`, 'BAD_USER_INPUT', /e-mail address/],
    ['username: "x", password: "short"', 'BAD_USER_INPUT', /password/],
    ['username: "x", password: "12345678"', 'BAD_USER_INPUT', /password/],
  ])('reject createUser(%s)', async (args, code, message) => {
    const answer = await root.query(`mutation { createUser(${args}) { id } }`);

    expect([answer.code, answer.data]).toEqual([code, { createUser: null }]);
    expect(answer.errors![0]!.message).toMatch(message);
    expect(await fitgraph.sql(`SELECT FROM "user_account" WHERE "username" = 'x'`)).toEqual([]);
  });

  test.each(OPERATIONS.filter(([name]) => !['accounts', 'createUser'].includes(name)))(
    'report an unknown account of %s',
    async (name, document) => {
      for (const id of ['999999', '"x"', '"0"', '"99999999999"']) {
        const answer = await root.query(document(0).replace('id: 0', `id: ${id}`));

        expect([answer.code, answer.data]).toEqual(['NOT_FOUND', { [name]: null }]);
        expect(answer.errors![0]!.message).toContain('Account');
      }
    },
  );

  test('grant and revoke roles one by one', async () => {
    const carl = await fitgraph.user('carl');
    const setRoles = async (args: string) =>
      (
        await root.ask(
          `mutation { setUserRoles(id: ${carl.id}, ${args}) { isSuperuser isCurator } }`,
        )
      ).setUserRoles;

    expect(await setRoles('isCurator: true')).toEqual({ isSuperuser: false, isCurator: true });
    expect(await setRoles('isSuperuser: true, isCurator: null')).toEqual({
      isSuperuser: true,
      isCurator: true,
    });
    expect((await carl.ask('{ accounts(first: 1) { totalCount } }')).accounts).toBeTruthy();
    expect(await setRoles('isSuperuser: false, isCurator: false')).toEqual({
      isSuperuser: false,
      isCurator: false,
    });
    expect((await eventsOf(carl.id)).map(({ kind, detail }) => `${kind} ${detail}`)).toEqual([
      'ROLE_REVOKED curator',
      'ROLE_REVOKED superuser',
      'ROLE_GRANTED superuser',
      'ROLE_GRANTED curator',
    ]);
    expect((await eventsOf(carl.id))[0]).toMatchObject(BY_ROOT);
  });

  test('deactivate and activate an account', async () => {
    const dora = await fitgraph.user('dora');
    const setActive = async (isActive: boolean) =>
      (
        await root.ask(
          `mutation { setUserActive(id: ${dora.id}, isActive: ${isActive}) { isActive } }`,
        )
      ).setUserActive;

    expect(await setActive(false)).toEqual({ isActive: false });
    expect((await dora.get('/workout/')).body).toEqual({ detail: 'User inactive or deleted.' });
    expect(await setActive(true)).toEqual({ isActive: true });
    expect((await dora.get('/workout/')).status).toBe(200);
    expect(await eventsOf(dora.id)).toEqual([
      { kind: 'ACCOUNT_ACTIVATED', detail: null, ...BY_ROOT },
      { kind: 'ACCOUNT_DEACTIVATED', detail: null, ...BY_ROOT },
    ]);
  });

  test('list sessions and access tokens of many accounts, and end and revoke one', async () => {
    const people = [await fitgraph.user('hugo'), await fitgraph.user('huda')];
    const documents = `{ accounts(search: "hu") { nodes { username
      sessions { id createdAt lastUsedAt } accessTokens { id name scopes } } } }`;

    for (const [index, person] of people.entries()) {
      for (let count = 0; count <= index; count += 1) {
        await new Visitor(fitgraph.url).signIn(index ? 'huda' : 'hugo');
      }

      await accessTokenOf(person);
    }

    const [huda, hugo] = (await root.ask(documents)).accounts.nodes;
    const tokenOf = { id: expect.any(String), name: 'all', scopes: ['WRITE'] };

    expect([huda.sessions.length, hugo.sessions.length]).toEqual([2, 1]);
    expect([huda.accessTokens, hugo.accessTokens]).toEqual([[tokenOf], [tokenOf]]);
    // An id of another account ends and revokes nothing.
    const end = (person: Person, session: string, token: string) =>
      root.ask(`mutation { endUserSession(id: ${person.id}, sessionId: "${session}") { id }
        revokeUserAccessToken(id: ${person.id}, accessTokenId: "${token}") {
          sessions { id } accessTokens { id } } }`);
    const unchanged = await end(people[0]!, huda.sessions[0].id, huda.accessTokens[0].id);

    expect(unchanged.revokeUserAccessToken.sessions).toHaveLength(1);
    expect(await end(people[1]!, huda.sessions[0].id, huda.accessTokens[0].id)).toMatchObject({
      revokeUserAccessToken: { sessions: [{ id: huda.sessions[1].id }], accessTokens: [] },
    });
    expect((await eventsOf(people[1]!.id)).slice(0, 2)).toEqual([
      { kind: 'ACCESS_TOKEN_REVOKED', detail: 'all', ...BY_ROOT },
      { kind: 'SESSIONS_ENDED', detail: '1', ...BY_ROOT },
    ]);
    expect((await root.ask(documents)).accounts.nodes[1].sessions).toHaveLength(1);
  });

  test('end all sessions and revoke all tokens', async () => {
    const erik = await fitgraph.user('erik');
    const token = await accessTokenOf(erik);
    const visitor = new Visitor(fitgraph.url);

    await visitor.signIn('erik');
    await root.ask(`mutation { signOutUser(id: ${erik.id}) { id } }`);
    expect((await erik.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
    expect((await token.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
    expect((await visitor.get('/user/api-key')).status).toBe(303);
    expect((await eventsOf(erik.id))[0]).toEqual({
      kind: 'CREDENTIALS_REVOKED',
      detail: null,
      ...BY_ROOT,
    });
  });

  test('delete an account with its rows, and return it as it was', async () => {
    const fred = await fitgraph.user('fred');

    await fred.post('/workout/', { comment: 'mine' });
    expect(await root.ask(`mutation { deleteUser(id: ${fred.id}) { id username } }`)).toEqual({
      deleteUser: { id: String(fred.id), username: 'fred' },
    });
    expect((await fred.get('/workout/')).body).toEqual({ detail: 'Invalid token.' });
    expect(await fitgraph.sql('SELECT FROM "workout" WHERE "user_id" = $1', [fred.id])).toEqual([]);
    expect((await eventsOf(fred.id))[0]).toEqual({
      kind: 'ACCOUNT_DELETED',
      detail: 'fred',
      ...BY_ROOT,
    });
  });

  test('of their own account are rejected where superusers could lock themselves out', async () => {
    const before = await accountRows();

    for (const change of [
      'setUserRoles(id: ID, isSuperuser: false)',
      'setUserActive(id: ID, isActive: false)',
      'deleteUser(id: ID)',
    ]) {
      const { code, errors } = await root.query(
        `mutation { ${change.replace('ID', String(root.id))} { id } }`,
      );

      expect([change, code]).toEqual([change, 'FORBIDDEN']);
      expect(errors![0]!.message).toMatch(/^Superusers cannot/);
    }

    expect(await accountRows()).toEqual(before);
  });

  test('show users the events of their account without the address of the superuser', async () => {
    const gina = await fitgraph.user('gina');

    await root.ask(`mutation { createPasswordLink(id: ${gina.id}) { url } }`);
    expect(
      (await gina.ask('{ viewer { securityEvents { nodes { kind address detail } } } }')).viewer
        .securityEvents.nodes,
    ).toEqual([{ kind: 'PASSWORD_LINK_CREATED', address: null, detail: null }]);
  });
});

describe('concurrent changes', () => {
  test('two superusers who demote each other leave one of them', async () => {
    for (let round = 0; round < 10; round += 1) {
      const pair = await Promise.all(
        ['left', 'right'].map((side) => fitgraph.user(`${side}${round}`, { isSuperuser: true })),
      );
      const demote = (by: Person, target: Person) =>
        by.query(`mutation { setUserRoles(id: ${target.id}, isSuperuser: false) { id } }`);
      const codes = await Promise.all([demote(pair[0]!, pair[1]!), demote(pair[1]!, pair[0]!)]);

      expect(codes.map(({ code }) => code).sort()).toEqual(['FORBIDDEN', undefined]);
      expect(
        await fitgraph.sql('SELECT FROM "user_account" WHERE "id" = ANY($1) AND "is_superuser"', [
          pair.map(({ id }) => id),
        ]),
      ).toHaveLength(1);
    }
  });

  test('of several creations with one name, one succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        root.query('mutation { createUser(username: "contested") { id } }'),
      ),
    );

    expect(answers.map(({ code }) => code).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 'CONFLICT'),
      undefined,
    ]);
    expect(
      await fitgraph.sql(`SELECT FROM "user_account" WHERE "username" = 'contested'`),
    ).toHaveLength(1);
    expect(
      await fitgraph.sql(
        `SELECT FROM "security_event" e JOIN "user_account" u ON u."id" = e."user_id" WHERE "username" = 'contested'`,
      ),
    ).toHaveLength(1);
  });

  test('of several deletions of one account, one succeeds and is logged', async () => {
    const { id } = await fitgraph.user('doomed');
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => root.query(`mutation { deleteUser(id: ${id}) { id } }`)),
    );

    expect(answers.map(({ code }) => code).sort()).toEqual([
      'NOT_FOUND',
      'NOT_FOUND',
      'NOT_FOUND',
      undefined,
    ]);
    expect((await eventsOf(id)).map(({ kind }) => kind)).toEqual(['ACCOUNT_DELETED']);
  });
});

test('superusers see all accounts with row-level security on', async () => {
  const secured = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { ROW_SECURITY: 'required' },
  });

  try {
    expect(
      (await root.atInstance(secured.url).ask('{ accounts(search: "ann") { nodes { username } } }'))
        .accounts.nodes,
    ).toContainEqual({ username: 'ann' });
  } finally {
    await secured.stop();
  }
});
