/**
 * Subscriptions over server-sent events and WebSocket, with the client libraries of web
 * applications.
 */
import { createClient as createEventClient, type Client as EventClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import WebSocket from 'ws';
import { DatabaseSession } from '../../../src/database/session';
import { Visitor } from '../../setup/visitor';
import { Fitgraph, fitgraphForThisFile, PASSWORD } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { until } from '../../setup/waits';

const one = fitgraphForThisFile();
let two: Fitgraph;
let ann: Person;
let annElsewhere: Person;

beforeAll(async () => {
  two = await Fitgraph.start({ sameDatabaseAs: one });
  ann = await one.user('ann');
  annElsewhere = new Person(two.url, { id: ann.id, token: ann.token });
});
afterAll(() => two.stop());

const CHANGED = `subscription ($types: [RowType!], $since: String) {
  changed(types: $types, since: $since) { cursor changes { type rowId operation node { ... on WeightEntry { weight } } } } }`;

interface Event {
  data?: {
    changed: {
      cursor: string;
      changes: {
        type: string;
        rowId: string;
        operation: string;
        node: { weight?: string } | null;
      }[];
    };
  };
  errors?: readonly { message: string; extensions: { code?: string } }[];
}
interface Stream extends AsyncIterable<Event> {
  next(): Promise<IteratorResult<Event>>;
  return(): Promise<unknown>;
}
interface Request {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

const closing: (() => void)[] = [];

afterEach(() => {
  while (closing.length) closing.pop()!();
});

function events(url: string, headers: Record<string, string>): (request: Request) => Stream {
  const client: EventClient = createEventClient({ url, headers, retryAttempts: 0 });

  closing.push(() => client.dispose());
  return (request) => client.iterate(request) as unknown as Stream;
}

function socket(
  url: string,
  connectionParams: Record<string, string>,
  headers: Record<string, string> = {},
): (request: Request) => Stream {
  class WithHeaders extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }

  const client = createSocketClient({
    url: url.replace('http', 'ws'),
    connectionParams,
    webSocketImpl: WithHeaders,
    retryAttempts: 0,
  });

  closing.push(() => void client.dispose());
  return (request) => client.iterate(request as never) as unknown as Stream;
}

const token = (person: Person) => ({ Authorization: `Token ${person.token}` });

const TRANSPORTS: [string, (fitgraph: Fitgraph, person: Person) => (request: Request) => Stream][] =
  [
    [
      'server-sent events at /graphql/stream',
      (fitgraph, person) => events(`${fitgraph.url}/graphql/stream`, token(person)),
    ],
    [
      'server-sent events at /graphql',
      (fitgraph, person) => events(`${fitgraph.url}/graphql`, token(person)),
    ],
    ['WebSocket', (fitgraph, person) => socket(`${fitgraph.url}/graphql`, token(person))],
  ];

/** Subscribes and reads the first event, which contains the cursor of the start. */
async function subscribe(
  open: (request: Request) => Stream,
  variables: Record<string, unknown> = {},
) {
  const stream = open({ query: CHANGED, variables });
  const first = (await stream.next()).value as Event;

  expect(first.errors).toBeUndefined();
  return { stream, cursor: first.data!.changed.cursor, first: first.data!.changed.changes };
}

async function nextChanges(stream: Stream, number: number) {
  const all: NonNullable<Event['data']>['changed']['changes'] = [];

  while (all.length < number) {
    const { value } = (await stream.next()) as { value: Event };

    all.push(...value.data!.changed.changes);
  }

  return all;
}

const summarize = (changes: { type: string; rowId: string; operation: string }[]) =>
  changes.map(({ type, rowId, operation }) => `${operation} ${type} ${rowId}`);

let day = 0;
const createEntry = async (person: Person) =>
  (
    await person.post('/weightentry/', {
      date: new Date(Date.UTC(1990, 0, (day += 1))).toISOString().slice(0, 10),
      weight: '80',
    })
  ).body.id;

describe.each(TRANSPORTS)('the endpoint for subscriptions over %s', (_name, transport) => {
  test('delivers every change of both interfaces and instances once and in order', async () => {
    const eve = await one.user('eve');
    const { stream } = await subscribe(transport(one, ann));
    const first = await createEntry(ann);
    const second = await createEntry(annElsewhere);

    await createEntry(eve);
    await annElsewhere.patch(`/weightentry/${first}/`, { weight: '81' });
    await ann.ask(`mutation ($id: ID!) { deleteWeightEntry(id: $id) { deletedIds } }`, {
      id: second,
    });
    const changes = await nextChanges(stream, 4);

    expect(summarize(changes)).toEqual([
      `CREATED WEIGHT_ENTRY ${first}`,
      `CREATED WEIGHT_ENTRY ${second}`,
      `UPDATED WEIGHT_ENTRY ${first}`,
      `DELETED WEIGHT_ENTRY ${second}`,
    ]);
    expect(changes[2]!.node).toEqual({ weight: '81.00' });
    await stream.return();
  });

  test('delivers changes of the requested types only', async () => {
    const { stream } = await subscribe(transport(one, ann), { types: ['WORKOUT'] });

    await createEntry(ann);
    const { id } = (await ann.post('/workout/', { comment: '' })).body;

    expect(summarize(await nextChanges(stream, 1))).toEqual([`CREATED WORKOUT ${id}`]);
  });

  test('resumes from a cursor after a lost connection', async () => {
    const before = await subscribe(transport(one, ann));

    await before.stream.return();
    const id = await createEntry(annElsewhere);
    const { first } = await subscribe(transport(two, ann), { since: before.cursor });

    expect(summarize(first)).toEqual([`CREATED WEIGHT_ENTRY ${id}`]);
  });

  test('ends a subscription when its token is revoked', async () => {
    const bob = await one.user(`bob${(day += 1)}`);
    const { stream } = await subscribe(transport(one, bob));

    await one.sql('DELETE FROM "token" WHERE "user_id" = $1', [bob.id]);
    await createEntry(ann);
    await one.sql('INSERT INTO "workout" ("creation_date", "user_id") VALUES (current_date, $1)', [
      bob.id,
    ]);
    const { value } = await stream.next();

    expect(value).toMatchObject({
      errors: [{ message: 'Invalid token.', extensions: { code: 'FORBIDDEN' } }],
    });
    expect(value.data ?? null).toBeNull();
    expect((await stream.next()).done).toBe(true);
  });

  test.each([
    [
      'an invalid cursor',
      { query: CHANGED, variables: { since: 'x' } },
      'BAD_USER_INPUT',
      'since: This is not a valid cursor of changes.',
    ],
    [
      'an unknown row type',
      { query: CHANGED, variables: { types: ['Bicycle'] } },
      'BAD_USER_INPUT',
      'Bicycle',
    ],
    [
      'an unknown field',
      { query: 'subscription { changed { hat } }' },
      'GRAPHQL_VALIDATION_FAILED',
      'Cannot query field "hat"',
    ],
    [
      'a document that exceeds a limit',
      { query: `subscription { changed { ${'changes '.repeat(501)} } }` },
      'GRAPHQL_VALIDATION_FAILED',
      'selections',
    ],
    ['a syntax error', { query: 'subscription {' }, 'GRAPHQL_PARSE_FAILED', 'Syntax Error'],
    [
      'several operations without a name',
      { query: `${CHANGED.replace('subscription', 'subscription A')} query B { viewer { id } }` },
      'OPERATION_RESOLUTION_FAILURE',
      'operationName',
    ],
    [
      'an unknown operation name',
      { query: CHANGED, operationName: 'Other' },
      'OPERATION_RESOLUTION_FAILURE',
      'operationName',
    ],
  ])('rejects %s', async (_case, request, code, message) => {
    const open = transport(one, ann);
    // graphql-ws throws the errors of an operation; graphql-sse returns them as a result.
    const errors = await open(request)
      .next()
      .then(
        ({ value }) => value.errors,
        (thrown) => thrown,
      );

    expect(errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code } },
    ]);
  });

  test('rejects queries and mutations', async () => {
    for (const query of [
      '{ viewer { id } }',
      'mutation { deleteWeightEntry(id: 1) { deletedIds } }',
    ]) {
      const errors = await transport(
        one,
        ann,
      )({ query })
        .next()
        .then(
          ({ value }) => value.errors,
          (thrown) => thrown,
        );

      expect(JSON.stringify(errors)).toContain('Only subscriptions run here');
    }
  });
});

test('an event stream whose request was chunked does not block other chunked requests of the user', async () => {
  const post = (path: string, body: object, headers: object, signal?: AbortSignal) =>
    fetch(one.url + path, {
      method: 'POST',
      body: new Blob([JSON.stringify(body)]).stream(),
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Token ${ann.token}`,
        ...headers,
      },
      signal,
      duplex: 'half',
    } as RequestInit);
  const stream = new AbortController();

  try {
    const query = CHANGED;

    expect(
      (await post('/graphql/stream', { query }, { Accept: 'text/event-stream' }, stream.signal))
        .status,
    ).toBe(200);
    const answers = await Promise.all(
      [1, 2].map(() => post('/graphql', { query: '{ viewer { id } }' }, {})),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  } finally {
    stream.abort();
  }
});

test('rejects a subscription when the client does not accept an event stream', async () => {
  const { errors, code } = await ann.query('subscription { changed { cursor } }');

  expect(code).toBe('BAD_REQUEST');
  expect(errors![0]!.message).toContain('server-sent events');
});

describe.each<[string, (fitgraph: Fitgraph) => (request: Request) => Stream]>([
  ['server-sent events', (fitgraph) => events(`${fitgraph.url}/graphql/stream`, {})],
  ['WebSocket', (fitgraph) => socket(`${fitgraph.url}/graphql`, {})],
])('anonymous subscriptions over %s', (_name, transport) => {
  test('receive changes of the requested catalogue types only', async () => {
    const { stream } = await subscribe(transport(one), { types: ['INGREDIENT', 'LANGUAGE'] });
    const next = nextChanges(stream, 2);

    await createEntry(ann);
    await one.sql(`UPDATE "muscle" SET "name" = "name" WHERE "id" = 1`);
    await one.sql(`UPDATE "ingredient" SET "energy" = "energy" + 1 WHERE "id" = 1`);
    await one.sql(`UPDATE "language" SET "full_name" = "full_name" WHERE "id" = 2`);
    expect(summarize(await next)).toEqual(['UPDATED INGREDIENT 1', 'UPDATED LANGUAGE 2']);
    await stream.return();
  });

  test('may repeat a type, and end without an error', async () => {
    const before = one.logged.length;

    // Repeated, because an error at the end of a subscription might be logged only during the next
    // one.
    for (let round = 0; round < 3; round += 1) {
      const { stream } = await subscribe(transport(one), {
        types: ['INGREDIENT', 'INGREDIENT', 'LANGUAGE'],
      });

      await stream.return();
    }

    expect(one.logged.slice(before).filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  test('are rejected when they include a type of owned rows', async () => {
    const errors = await transport(one)({
      query: CHANGED,
      variables: { types: ['INGREDIENT', 'WEIGHT_ENTRY'] },
    })
      .next()
      .then(({ value }) => value.errors);

    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  });
});

test('reads the change log only for subscribers of the changed catalogue type', async () => {
  const own = await subscribe(events(`${one.url}/graphql/stream`, token(ann)));
  const foods = await subscribe(events(`${one.url}/graphql/stream`, token(ann)), {
    types: ['INGREDIENT'],
  });
  const both = await subscribe(events(`${one.url}/graphql/stream`, token(ann)), {
    types: ['INGREDIENT', 'WEIGHT_ENTRY'],
  });

  const readings = async (expected: number, act: () => Promise<unknown>) => {
    await waitForPolls();
    querySpy.mockClear();
    const { notificationCount } = one.services.notificationListener;
    const count = () => querySpy.mock.calls.filter(([text]) => text.includes('change_log')).length;

    await act();
    await until(
      'the change notification is received and the change log is read',
      () =>
        one.services.notificationListener.notificationCount > notificationCount &&
        count() >= expected,
    );
    await waitForPolls();
    return count();
  };

  const waitForPolls = () => new Promise((resolve) => setTimeout(resolve, 300));
  const querySpy = jest.spyOn(DatabaseSession.prototype, 'query');

  try {
    expect(
      await readings(0, () => one.sql(`UPDATE "muscle" SET "name" = "name" WHERE "id" = 1`)),
    ).toBe(0);
    expect(
      await readings(2, () =>
        one.sql(`UPDATE "ingredient" SET "energy" = "energy" WHERE "id" = 1`),
      ),
    ).toBe(2);
    expect(await readings(2, () => createEntry(ann))).toBe(2);
  } finally {
    querySpy.mockRestore();
  }

  expect(summarize(await nextChanges(foods.stream, 1))).toEqual(['UPDATED INGREDIENT 1']);
  expect(summarize(await nextChanges(both.stream, 2))[0]).toBe('UPDATED INGREDIENT 1');
  expect(summarize(await nextChanges(own.stream, 1))[0]).toMatch(/^CREATED WEIGHT_ENTRY/);
});

test('rejects subscriptions to all types when the token is missing or invalid', async () => {
  const { value } = await events(`${one.url}/graphql/stream`, {})({ query: CHANGED }).next();

  expect(value).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  await expect(
    events(`${one.url}/graphql/stream`, { Authorization: 'Token nonsense' })({
      query: CHANGED,
    }).next(),
  ).rejects.toMatchObject({
    response: { status: 401 },
  });
  const nobody = await socket(`${one.url}/graphql`, {})({ query: CHANGED }).next();

  expect(nobody.value).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  await expect(
    socket(`${one.url}/graphql`, { Authorization: 'Token nonsense' })({ query: CHANGED }).next(),
  ).rejects.toMatchObject({
    code: 4401,
  });
});

test('rejects subscriptions of a browser session without its CSRF token', async () => {
  const visitor = new Visitor(one.url);
  const form = await visitor.get('/login');
  const signIn = /name="(\w+)" value="([^"]+)"/.exec(form.text);

  await visitor.post('/login', {
    username: 'ann',
    password: PASSWORD,
    ...(signIn && { [signIn[1]!]: signIn[2]! }),
  });
  const cookie = {
    Cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  };
  const csrf =
    /"csrfToken":"([^"]+)"|name="csrfToken" value="([^"]+)"|name="csrf-token" content="([^"]+)"/.exec(
      (await visitor.get('/user/api-key')).text,
    );
  const csrfToken = csrf!.slice(1).find(Boolean)!;

  await expect(
    socket(`${one.url}/graphql`, {}, cookie)({ query: CHANGED }).next(),
  ).rejects.toMatchObject({ code: 4401 });
  await expect(
    events(`${one.url}/graphql/stream`, cookie)({ query: CHANGED }).next(),
  ).rejects.toMatchObject({ response: { status: 403 } });
  expect(
    (await subscribe(socket(`${one.url}/graphql`, { 'X-CSRFToken': csrfToken }, cookie))).cursor,
  ).toBeTruthy();
  expect(
    (await subscribe(events(`${one.url}/graphql/stream`, { ...cookie, 'X-CSRFToken': csrfToken })))
      .cursor,
  ).toBeTruthy();
});

test('rejects WebSockets at other paths and with other subprotocols', async () => {
  const status = (url: string, protocol: string) =>
    new Promise((resolve) =>
      new WebSocket(url.replace('http', 'ws'), protocol)
        .on('error', (error) => resolve(error.message))
        .on('open', () => resolve('open')),
    );

  expect(await status(`${one.url}/elsewhere`, 'graphql-transport-ws')).toContain('404');
  expect(await status(`${one.url}//`, 'graphql-transport-ws')).toContain('404');
  expect(await status(`${one.url}/graphql`, 'graphql-ws')).not.toBe('open');
});

test('ends open subscriptions when the server stops', async () => {
  const three = await Fitgraph.start({ sameDatabaseAs: one });
  const streams = [
    events(`${three.url}/graphql/stream`, token(ann)),
    socket(`${three.url}/graphql`, token(ann)),
  ].map((open) => open({ query: CHANGED }));

  for (const stream of streams) await stream.next();
  const ended = streams.map((stream) =>
    stream.next().then(
      () => 'an event',
      () => 'cut off',
    ),
  );

  await three.stop();
  expect(await Promise.all(ended)).toEqual(['cut off', 'cut off']);
});
