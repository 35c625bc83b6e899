/**
 * SQL injection in every parameter, prototype pollution by every body, and bodies that are
 * expensive to parse.
 */
import { UNKNOWN, createOwnedRows, parentsIn, type OwnedRowIds } from '../../setup/owned-rows';
import { allEntities } from '../../../src/engine/declare/registry';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { bodyOf } from '../../setup/sample-values';
import { growth, LINEAR, workOf } from '../../setup/waits';
import { SQL } from '../../setup/hostile-texts';
import { endpoints, filterKeys, searches, writable } from '../../setup/rest-endpoints';

const fitgraph = fitgraphForThisFile({ environment: { MAX_BODY: '1MB' } });
const FORM = 'application/x-www-form-urlencoded';
let ann: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
});

/** No request has caused an unexpected error, such as an invalid statement. */
afterEach(() =>
  expect(fitgraph.logged.splice(0).filter((line) => line.includes('unexpected error'))).toEqual([]),
);

interface TableCount {
  relname: string;
  n: string;
}

const rowCounts = async () =>
  (await fitgraph.sql(`SELECT relname, (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', relname), false, true, '')))[1]::text AS n
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN ('login_attempt', 'security_event', 'change') ORDER BY 1`)) as TableCount[];

/** CPU time above which the cost of a request must be proportional to its size. */
const WORK_MS = 1_000;

/**
 * Checks that a request takes little CPU time, or time at most proportional to its size: `ask`
 * sends a whole body or a quarter of it. A payload that sleeps in the database would end with
 * STATEMENT_TIMEOUT and status 503.
 */
async function expectFast(ask: (share: 1 | 0.25) => Promise<Answer>): Promise<Answer> {
  let answer: Answer;
  const cpuMs = await workOf(async () => {
    answer = await ask(1);
  });

  if (cpuMs > WORK_MS) expect(await growth(ask)).toBeLessThan(LINEAR);

  return answer!;
}

const wellFormed = SQL.map((text) => text.replace(/\p{Cs}/gu, '\ufffd'));

describe('SQL injection', () => {
  let before: TableCount[];

  beforeAll(async () => {
    before = await rowCounts();
  });
  // The budgets of ann and of anonymous clients are stored with a delay, one row each.
  afterAll(async () => {
    const after = await rowCounts();
    const isBudget = ({ relname }: TableCount) => relname === 'budget';

    expect(after.filter((table) => !isBudget(table))).toEqual(
      before.filter((table) => !isBudget(table)),
    );
    const [budgetsBefore, budgetsAfter] = [before, after].map((tables) =>
      Number(tables.find(isBudget)!.n),
    );

    expect([budgetsBefore, budgetsBefore! + 1, budgetsBefore! + 2]).toContain(budgetsAfter);
  });

  test.each(endpoints.map((endpoint) => [endpoint.view.restName, endpoint] as const))(
    'has no effect in the parameters of %s',
    async (rest, endpoint) => {
      const pathOf = (key: string, text: string) =>
        `/${rest}/?${new URLSearchParams({ [key]: text })}`;

      for (const key of [...filterKeys(endpoint), 'ordering', 'limit', 'offset']) {
        const [word, number] = await Promise.all(
          ['no such value', '8'.repeat(400)].map((text) => ann.get(pathOf(key, text))),
        );

        for (const text of wellFormed) {
          const path = pathOf(key, text);
          const { status, body } = await expectFast(() => ann.get(path));
          // A condition that is always true or false would change the number of rows. Only NUL is
          // invalid in every text.
          const harmless = /^\d+$/.test(text) ? number! : word!;
          const expected =
            text === '\0' && status === 400
              ? { status }
              : { status: harmless.status, count: harmless.body.count };

          expect({ path, status, count: body.count }).toEqual({ path, ...expected });
        }
      }

      for (const term of [
        'id; DROP TABLE workout',
        'id" --',
        '-id,(SELECT 1)',
        'password',
        'user__password',
        '"id"',
        'id ASC',
        '*',
        '1',
      ]) {
        expect((await ann.get(`/${rest}/?${new URLSearchParams({ ordering: term })}`)).status).toBe(
          200,
        );
      }
    },
  );

  test('has no effect in ids, searches and arguments of actions', async () => {
    for (const text of wellFormed) {
      const part = encodeURIComponent(text.replaceAll('.', ''));
      const query = (...names: string[]) =>
        new URLSearchParams(Object.fromEntries(names.map((name) => [name, text])));

      for (const search of searches) {
        expect([200, 400]).toContain(
          (await expectFast(() => ann.get(`/${search}/?${query('term', 'language')}`))).status,
        );
      }

      for (const { view, actions, type } of endpoints) {
        expect({
          text,
          status: (await expectFast(() => ann.get(`/${view.restName}/${part}/`))).status,
        }).toEqual({ text, status: 404 });
        const id = ownedRowIds.get(allEntities().find(({ name }) => name === type.name)!) ?? 1;

        for (const { metadata, field } of actions.values()) {
          const { status } = await expectFast(() =>
            ann.get(
              `/${view.restName}/${id}/${metadata.name}/?${query(...field.args.map(({ name }) => name))}`,
            ),
          );

          expect([200, 400, 404]).toContain(status);
        }
      }
    }
  });

  test('has no effect in usernames, passwords and tokens', async () => {
    for (const text of wellFormed) {
      const { status, body } = await fitgraph.anonymous.post('/login/', {
        username: text,
        password: text,
      });

      expect([400, 401]).toContain(status);
      expect(body.token).toBeUndefined();
      const { code, data } = await fitgraph.anonymous.query(
        'mutation ($t: String!) { login(username: $t, password: $t) { token errors { code } } }',
        {
          t: text,
        },
      );

      expect([code ?? data.login.errors[0].code, data?.login?.token ?? null]).toEqual([
        expect.any(String),
        null,
      ]);
      const token = await fitgraph.anonymous
        .withHeaders({ Authorization: `Token ${encodeURIComponent(text)}` })
        .get('/workout/');

      expect(token.status).toBe(403);
    }
  });

  test('is stored as text', async () => {
    for (const text of wellFormed.filter((one) => one.length < 100 && !one.includes('\0'))) {
      const { status, body } = await ann.post('/workout/', { comment: text });

      expect([status, body.comment]).toEqual([201, text.trim()]);
      expect((await ann.get(`/workout/${body.id}/`)).body.comment).toBe(text.trim());
    }

    await fitgraph.sql('DELETE FROM "workout" WHERE "id" <> $1', [
      [...ownedRowIds].find(([{ name }]) => name === 'Workout')![1],
    ]);
  });
});

describe('prototype keys', () => {
  const KEYS = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '__defineGetter__',
    'constructor[prototype][polluted]',
    '__proto__.polluted',
  ];
  const emptyObject = () => ({}) as Record<string, unknown>;

  afterEach(() => {
    expect(emptyObject().polluted).toBeUndefined();
    expect(emptyObject().isSuperuser).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('pollute no prototype in REST bodies', async () => {
    for (const endpoint of writable) {
      const entity = allEntities().find(({ name }) => name === endpoint.type.name)!;
      const path = `/${endpoint.view.restName}/`;
      const own = JSON.stringify(bodyOf(entity, 2, parentsIn(ownedRowIds))).slice(1, -1);

      for (const key of KEYS) {
        const json = `{${own}${own && ','}${JSON.stringify(key)}:{"polluted":true,"isSuperuser":true,"prototype":{"polluted":true}}}`;
        const form = new URLSearchParams({
          [key]: '{"polluted":true}',
          _method: key,
          csrfToken: key,
        }).toString();

        for (const [type, body] of [
          ['application/json', json],
          ['application/json', `{${JSON.stringify(key)}:{"polluted":true}}`],
          [FORM, form],
        ] as const) {
          // Hidden form fields count for HTML clients only.
          const accept = type === FORM ? 'text/html' : type;
          const { status, body: row } = await ann
            .withHeaders({ 'Content-Type': type, Accept: accept })
            .send('POST', `/api/v2${path}`, body);

          expect({ path, key, status: status < 500 }).toEqual({ path, key, status: true });
          if (status === 201 && row.id) await ann.delete(`${path}${row.id}/`);
        }
      }
    }
  });

  test('pollute no prototype in query strings, paths and logins', async () => {
    for (const key of KEYS) {
      const query = new URLSearchParams({
        [key]: 'x',
        ordering: key,
        format: '',
        limit: key,
        [`${key}[polluted]`]: 'x',
        [`where[${key}]`]: 'x',
      });

      for (const { view } of endpoints) {
        for (const accept of ['application/json', 'text/html']) {
          expect(
            (await ann.withHeaders({ Accept: accept }).get(`/${view.restName}/?${query}`)).status,
          ).toBe(200);
        }
      }

      const name = encodeURIComponent(key.replaceAll('.', ''));

      for (const path of [
        `/${name}/`,
        `/workout/${name}/`,
        `/workout/${UNKNOWN}/${name}/`,
        `/exercise/${name}/search/`,
      ]) {
        for (const accept of ['application/json', 'text/html']) {
          expect((await ann.withHeaders({ Accept: accept }).get(path)).status).toBe(404);
        }
      }

      for (const page of ['/', '/login', '/register', '/api/v2/schema']) {
        expect((await ann.send('GET', `${page}?${query}`)).status).toBeLessThan(400);
      }

      expect(
        (await fitgraph.anonymous.post('/login/', `{${JSON.stringify(key)}:{"polluted":true}}`))
          .status,
      ).toBe(400);
    }
  });

  test('pollute no prototype in GraphQL requests', async () => {
    for (const key of KEYS) {
      const inner = `{${JSON.stringify(key)}:{"polluted":true},"name":"x"}`;
      const bodies = [
        `{"query":"query ($where: WorkoutWhere) { workouts(where: $where) { totalCount } }","variables":{"where":${inner}}}`,
        `{"query":"mutation ($input: WorkoutInput!) { createWorkout(input: $input) { id } }","variables":{"input":${inner}}}`,
        `{"query":"{ viewer { id } }","variables":${inner},"extensions":${inner},${JSON.stringify(key)}:{"polluted":true}}`,
        `{"query":"{ ${key.replace(/\W/g, '')} }","operationName":${JSON.stringify(key)}}`,
      ];

      for (const body of bodies) {
        expect({ body, status: (await ann.send('POST', '/graphql', body)).status < 500 }).toEqual({
          body,
          status: true,
        });
      }
    }
  });
});

describe('expensive bodies', () => {
  const nestedText = (open: string, inner: string, close: string, levels: number) =>
    open.repeat(levels) + inner + close.repeat(levels);

  /** Bodies of full size or a quarter of it. */
  const BODIES: [string, (share: 1 | 0.25) => string][] = [
    ['nested arrays', (share) => nestedText('[', '', ']', 60_000 * share)],
    ['nested objects', (share) => nestedText('{"a":', '1', '}', 60_000 * share)],
    ['an unfinished array', (share) => '['.repeat(500_000 * share)],
    [
      'the largest number of keys',
      (share) => `{${Array.from({ length: 1_000 * share }, (_, index) => `"k${index}":1`).join()}}`,
    ],
    [
      'too many keys',
      (share) =>
        `{${Array.from({ length: 40_000 * share }, (_, index) => `"n${index}":1`).join()}}`,
    ],
    ['an array of many elements', (share) => `[${'1,'.repeat(200_000 * share)}1]`],
    ['a long number', (share) => '9'.repeat(900_000 * share)],
    ['a number with a large negative exponent', () => '1e-999999999999'],
    ['a long text', (share) => JSON.stringify('x'.repeat(900_000 * share))],
    ['a lone surrogate', () => '"\\ud800"'],
    ['a null character', () => '"\\u0000"'],
    ['an empty body', () => ''],
    ['control characters', () => '\u0000\u0001\ufffe'],
  ];

  test.each(BODIES)('are answered in time: %s', async (_name, body) => {
    const text = body(1);

    for (const accept of ['application/json', 'text/html']) {
      const person = ann.withHeaders({ Accept: accept });

      for (const path of ['/workout/', '/login/']) {
        const { status } = await expectFast((share) => person.post(path, body(share)));
        // Any object is a valid workout.
        const made = path === '/workout/' && (text === '' || text.startsWith('{"k0"'));

        expect({ path, status: made ? status === 201 : status >= 400 && status < 500 }).toEqual({
          path,
          status: true,
        });
      }
    }

    const { status } = await expectFast((share) => ann.send('POST', '/graphql', body(share)));

    expect({ status: status >= 400 && status < 500 }).toEqual({ status: true });

    for (const before of [
      '"query":',
      '"query":"{ viewer { id } }","operationName":',
      '"query":"{ viewer { id } }","extensions":',
    ]) {
      expect(
        (await expectFast((share) => ann.send('POST', '/graphql', `{${before}${body(share)}}`)))
          .status,
      ).toBeLessThan(500);
    }
  });

  /** One field of each kind, with its resource. */
  const kinds = new Map(
    writable.flatMap((endpoint) =>
      endpoint.fields
        .filter(({ restReadOnly }) => !restReadOnly)
        .map(
          ({ kind, restKey, relation }) =>
            [
              `${kind} ${relation?.isToMany} ${relation?.isOwned}`,
              { path: `/${endpoint.view.restName}/`, rest: restKey },
            ] as const,
        ),
    ),
  );

  test.each(BODIES)('are answered in time as field values: %s', async (_name, body) => {
    if (body(1) === '') return;
    expect(kinds.size).toBeGreaterThan(10);

    for (const { path, rest } of kinds.values()) {
      for (const accept of ['application/json', 'text/html']) {
        const { status } = await expectFast((share) =>
          ann.withHeaders({ Accept: accept }).post(path, `{"${rest}":${body(share)}}`),
        );

        expect({ path, rest, status: status < 500 }).toEqual({ path, rest, status: true });
      }
    }

    const document =
      'mutation ($input: WorkoutInput!) { createWorkout(input: $input) { workout { id } errors { code } } }';

    for (const [before, after] of [
      ['', ''],
      ['{"name":', '}'],
    ]) {
      const variables = (share: 1 | 0.25) => `{"input":${before}${body(share)}${after}}`;
      const { status, text } = await expectFast((share) =>
        ann.send('POST', '/graphql', `{"query":"${document}","variables":${variables(share)}}`),
      );

      expect(status).toBeLessThan(500);
      // The variables are rejected, not the document.
      expect(text).not.toContain('GRAPHQL_VALIDATION_FAILED');
    }
  });

  test('are answered in time: malformed and repetitive forms', async () => {
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));
    const person = (type: string, accept: string) =>
      ann.withHeaders({ 'Content-Type': type, Accept: accept });
    const forms: [string, Uint8Array | string][] = [
      [FORM, 'a=1&'.repeat(100_000)],
      [FORM, `${'a['.repeat(1000)}=1`],
      [FORM, '%'.repeat(10_000)],
      [FORM, bytes('name=\xff\xfe\xc0')],
      [FORM, '%ff%fe=%c0'],
      [`${FORM}; charset=nonsense`, 'name=x'],
      [`${FORM}; charset=utf-7`, 'name=+ADw-script+AD4-'],
      ['application/json; charset=nonsense', '{}'],
      ['application/json; charset=utf-7', '+AHsAfQ-'],
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=', 'x'],
      [`multipart/form-data; boundary=${'b'.repeat(10_000)}`, 'x'],
      ['multipart/form-data; boundary=b', '--b\r\n'.repeat(50_000)],
      [
        'multipart/form-data; boundary=b',
        `--b\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--b--\r\n`,
      ],
      ['multipart/form-data; boundary=b', `--b\r\n${'X: y\r\n'.repeat(5000)}\r\nx\r\n--b--\r\n`],
      [
        'multipart/form-data; boundary=b',
        `--b\r\nContent-Disposition: form-data; name="${'n'.repeat(100_000)}"\r\n\r\nx\r\n--b--\r\n`,
      ],
      [
        'multipart/form-data; boundary=b',
        Array.from(
          { length: 2000 },
          (_, index) => `--b\r\nContent-Disposition: form-data; name="p${index}"\r\n\r\nx\r\n`,
        ).join('') + '--b--\r\n',
      ],
      ['__proto__', 'x'],
      [';;;', 'x'],
    ];

    for (const [type, body] of forms) {
      for (const path of [
        '/api/v2/weightentry/',
        '/api/v2/exerciseimage/',
        '/api/v2/login/',
        '/graphql',
        '/login',
        '/logout',
        '/user/api-key',
      ]) {
        for (const accept of ['application/json', 'text/html']) {
          const { status } = await expectFast(() => person(type, accept).send('POST', path, body));

          expect({ type, path, status: status < 500 }).toEqual({ type, path, status: true });
        }
      }
    }
  });

  test('are rejected with 413 above MAX_BODY', async () => {
    const large = 'x'.repeat(1_200_000);

    for (const path of ['/api/v2/workout/', '/api/v2/login/', '/graphql']) {
      expect((await expectFast(() => ann.send('POST', path, JSON.stringify(large)))).status).toBe(
        413,
      );
    }

    for (const path of ['/login', '/logout', '/user/api-key']) {
      expect(
        (
          await expectFast(() =>
            ann.withHeaders({ 'Content-Type': FORM }).send('POST', path, large),
          )
        ).status,
      ).toBe(413);
    }
  });
});
