/**
 * Regular-expression denial of service (ReDoS): long texts that repeat a character or group, with a
 * start or an end that does not match. Every place that parses client input must reject them
 * quickly.
 */
import { endpoints, filterKeys } from '../../setup/rest-endpoints';
import {
  LIVENESS_LIMIT_MS,
  RESPONSE_LIMIT_MS,
  graphql,
  send,
  Siege,
  type Reply,
} from './server-under-attack';

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

/** Close to Node's limit for headers and URLs, and a long value in a body. */
const OF_A_HEADER = 15_000;
const OF_A_BODY = 50_000;

const GROUPS = [
  ' ',
  '\t',
  ',',
  ', ',
  ';',
  '; ',
  '"',
  '""',
  "'",
  '-',
  '_',
  '.',
  '0',
  '1',
  '1.',
  '1-',
  '1,',
  '1:',
  '1e',
  'a',
  'a-',
  'a,',
  'a;q=0,',
  'a=',
  'a=b; ',
  'W/"',
  '{',
  '[',
  '(',
  '%',
  '/',
  ':',
  '=',
  '\\',
];

/**
 * Texts before and after the groups: none, a matching start with a mismatching end, an unclosed
 * quotation.
 */
const FRAMES = [
  ['', ''],
  ['1', '!'],
  ['"a', '\u00e9'],
] as const;

const hostileTexts = (length: number): string[] =>
  GROUPS.flatMap((group) =>
    FRAMES.map(
      ([before, after]) =>
        `${before}${group.repeat(Math.floor(length / group.length) - before.length)}${after}`,
    ),
  );

/** Sends the texts, two at a time. Returns those that took too long or caused a server error. */
async function sendAll(
  texts: readonly string[],
  request: (text: string) => Promise<Reply>,
): Promise<string[]> {
  const waiting = [...texts];
  const bad: string[] = [];
  const measureRequest = siege.timer();

  const sender = async () => {
    for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
      const { status, ms, text: answer } = await measureRequest(() => request(text));

      if (status === 0 || status === 500 || ms > RESPONSE_LIMIT_MS) {
        bad.push(
          `${status} after ${Math.round(ms)} ms: ${JSON.stringify(text.slice(0, 30))}… ${answer.slice(0, 200)}`,
        );
      }
    }
  };

  const { aliveMs } = await siege.measureDuring(() => Promise.all([sender(), sender()]));

  return aliveMs < LIVENESS_LIMIT_MS ? bad : [...bad, `silent for ${Math.round(aliveMs)} ms`];
}

/** Repeats a failed run, because delays caused by other processes do not recur. */
async function attack(
  texts: readonly string[],
  request: (text: string) => Promise<Reply>,
): Promise<void> {
  const bad = await sendAll(texts, request);

  if (bad.length) expect(await sendAll(texts, request)).toEqual([]);
}

const signedIn = () => ({ Authorization: `Token ${siege.token}` });

describe('a hostile header of 15 KB', () => {
  test.each([
    'Accept',
    'Accept-Charset',
    'Accept-Encoding',
    'Accept-Language',
    'Authorization',
    'Cookie',
    'Host',
    'If-Modified-Since',
    'If-None-Match',
    'Origin',
    'Range',
    'Referer',
    'User-Agent',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Requested-With',
  ])('is answered in time: %s of a REST read', (name) =>
    attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, { path: '/api/v2/language/', headers: { [name]: text } }),
    ),
  );

  test.each([
    'Authorization',
    'Content-Disposition',
    'Content-Encoding',
    'Content-Type',
    'Idempotency-Key',
    'If-Match',
    'X-CSRFToken',
  ])('is answered in time: %s of a REST write', (name) =>
    attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, {
        method: 'PATCH',
        path: '/api/v2/workout/1/',
        headers: { ...signedIn(), 'Content-Type': 'application/json', [name]: text },
        body: '{}',
      }),
    ),
  );

  test.each(['Accept', 'Content-Type', 'Content-Encoding', 'Idempotency-Key', 'Origin'])(
    'is answered in time: %s of a GraphQL request',
    (name) =>
      attack(hostileTexts(OF_A_HEADER), (text) =>
        graphql(siege.base, '{ __typename }', {}, { ...signedIn(), [name]: text }),
      ),
  );

  test.each([
    ['boundary', (text: string) => `multipart/form-data; boundary=${text}`],
    ['quoted boundary', (text: string) => `multipart/form-data; boundary="${text}"`],
    ['charset', (text: string) => `application/json; charset=${text}`],
    ['parameter', (text: string) => `application/x-www-form-urlencoded; a=${text}`],
  ])('is answered in time: %s of a Content-Type', (_what, typeOf) =>
    attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, {
        method: 'POST',
        path: '/api/v2/login/',
        headers: { 'Content-Type': typeOf(text) },
        body: 'a=b',
      }),
    ),
  );
});

describe('a hostile URL of 15 KB', () => {
  /** Percent-encoded and cut to the length, because most characters become three. */
  const escaped = (text: string) =>
    encodeURIComponent(text).slice(0, OF_A_HEADER).replace(/%.?$/, '');

  /** Not encoded, except for characters that Node rejects. */
  const raw = (text: string) => text.replaceAll(/[^!-~]/g, '+');

  test.each([
    '/',
    '/api/v2/',
    '/api/v2/exercise/',
    '/media/',
    '/media/exercise-images/',
    '/graphql/',
    '/user/',
    '//',
    '/schema/',
  ])('is answered in time: path segment after %s', async (path) => {
    await attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, { path: `${path}${escaped(text)}` }),
    );
    await attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, { path: `${path}${raw(text)}/` }),
    );
  });

  test('is answered in time: query string', async () => {
    for (const path of ['/api/v2/exercise/', '/', '/graphql', '/user/login']) {
      await attack(hostileTexts(OF_A_HEADER), (text) =>
        send(siege.base, { path: `${path}?${raw(text)}` }),
      );
    }
  });

  /** One endpoint per parser of filters. */
  const filters = new Map<string, string>();

  for (const { view, fields } of endpoints) {
    for (const [index, { field, syntax }] of view.filters.entries()) {
      const { kind } = fields.find(({ name }) => name === field)!;
      const key = filterKeys({ view, fields } as (typeof endpoints)[number])[index]!;

      if (!filters.has(`${kind} ${syntax ?? ''}`)) {
        filters.set(`${kind} ${syntax ?? ''}`, `/api/v2/${view.restName}/?${key}=`);
      }
    }
  }

  test.each([
    ...filters,
    ...['ordering', 'limit', 'offset', 'format', 'indent'].map((key) => [
      key,
      `/api/v2/exercise/?${key}=`,
    ]),
  ])('is answered in time: query parameter, %s', (_kind, path) =>
    attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, { path: `${path}${escaped(text)}`, headers: signedIn() }),
    ),
  );

  test.each([
    '/api/v2/ingredient/1/get_values/?amount=',
    '/api/v2/ingredient/1/get_values/?unit=',
    '/api/v2/exercise/search/?term=',
    '/api/v2/ingredient/search/?language=',
    '/user/login?next=',
    '/api/v2/ingredient/?format=api&name=',
  ])('is answered in time: %s', (path) =>
    attack(hostileTexts(OF_A_HEADER), (text) =>
      send(siege.base, { path: `${path}${escaped(text)}`, headers: signedIn() }),
    ),
  );
});

describe('a hostile variable of 50 KB', () => {
  test.each([
    ['ID!', 'exercise(id: $value) { id }'],
    ['ID!', 'node(nodeId: $value) { nodeId }'],
    ['String', 'exercises(after: $value) { totalCount }'],
    ['String!', 'changes(since: $value, first: 1) { cursor }'],
    ['String', 'exercises(where: { name: { search: $value } }) { totalCount }'],
    ['String', 'exercises(where: { name: { contains: $value } }) { totalCount }'],
    ['String', 'exercises(where: { uuid: { eq: $value } }) { totalCount }'],
    ['Int', 'exercises(first: $value) { totalCount }'],
    ['Boolean!', 'workouts { totalCount @include(if: $value) }'],
    ['Decimal', 'weightEntries(where: { weight: { eq: $value } }) { totalCount }'],
    ['Decimal!', 'ingredients(first: 1) { nodes { valuesOf(amount: $value) { energy } } }'],
    ['Date', 'weightEntries(where: { date: { gte: $value } }) { totalCount }'],
    ['DateTime', 'diaryEntries(where: { eatenAt: { gte: $value } }) { totalCount }'],
    ['Time', 'workoutSessions(where: { startTime: { gte: $value } }) { totalCount }'],
  ])('is answered in time: %s in %s', async (type, field) => {
    const document = `query ($value: ${type}) { ${field} }`;
    // The document itself must be valid.
    const { text } = await graphql(siege.base, document, { value: null }, signedIn());

    expect(text).not.toMatch(/VALIDATION|PARSE/);
    await attack(hostileTexts(OF_A_BODY), (value) =>
      graphql(siege.base, document, { value }, signedIn()),
    );
  });
});

describe('a body with a hostile value of 50 KB', () => {
  const json = { 'Content-Type': 'application/json' };

  test('is answered in time: GraphQL document', async () => {
    await attack(hostileTexts(OF_A_BODY), (text) => graphql(siege.base, text));
    await attack(hostileTexts(OF_A_BODY), (text) =>
      graphql(siege.base, `{ exercise(id: ${JSON.stringify(text)}) { id } }`),
    );
    await attack(hostileTexts(OF_A_BODY), (text) =>
      graphql(siege.base, `{ exercise(id: """${text}""") { id } }`),
    );
    await attack(hostileTexts(OF_A_BODY), (text) =>
      graphql(siege.base, `{ __typename } # ${text}`),
    );
    await attack(hostileTexts(OF_A_BODY), (text) =>
      graphql(siege.base, `{ ${text.replaceAll(/\W/g, '_')} }`),
    );
  });

  test('is answered in time: operation name and document id', () =>
    attack(hostileTexts(OF_A_BODY), (text) =>
      send(siege.base, {
        method: 'POST',
        path: '/graphql',
        headers: json,
        body: JSON.stringify({
          query: '{ __typename }',
          operationName: text,
          id: text,
          extensions: { persistedQuery: { version: 1, sha256Hash: text } },
        }),
      }),
    ));

  /** One field per kind of value; all fields of an endpoint are sent in one request. */
  const kinds = new Set<string>();
  const bodies = endpoints.flatMap(({ create, view, fields }) => {
    const keys = fields
      .filter(({ kind, restReadOnly }) => create && !restReadOnly && !kinds.has(kind))
      .map(({ kind, restKey }) => (kinds.add(kind), restKey));

    return keys.length ? [[view.restName, keys] as const] : [];
  });

  test.each(bodies)('is answered in time: values of %s', async (rest, keys) => {
    const path = `/api/v2/${rest}/`;

    await attack(hostileTexts(OF_A_BODY), (text) =>
      send(siege.base, {
        method: 'POST',
        path,
        headers: { ...signedIn(), ...json },
        body: JSON.stringify(Object.fromEntries(keys.map((key) => [key, text]))),
      }),
    );
    await attack(hostileTexts(OF_A_BODY), (text) =>
      send(siege.base, {
        method: 'POST',
        path,
        headers: { ...signedIn(), 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(keys.map((key): [string, string] => [key, text])).toString(),
      }),
    );
  });

  test('is answered in time: headers of multipart parts', async () => {
    const part = (header: string) => `--x\r\n${header}\r\n\r\nvalue\r\n--x--\r\n`;
    const form = (header: (text: string) => string) =>
      attack(hostileTexts(OF_A_BODY), (text) =>
        send(siege.base, {
          method: 'POST',
          path: '/api/v2/workout/',
          headers: { ...signedIn(), 'Content-Type': 'multipart/form-data; boundary=x' },
          body: part(header(text)),
        }),
      );

    await form((text) => `Content-Disposition: form-data; name="${text}"`);
    await form((text) => `Content-Disposition: form-data; name=${text}`);
    await form((text) => `Content-Disposition: form-data; name="a"; filename="${text}"`);
    await form((text) => `Content-Disposition: ${text}`);
    await form((text) => `Content-Disposition: form-data; name="a"\r\nContent-Type: ${text}`);
  });

  test('is answered in time: keys of a form and of a JSON object', async () => {
    const to = (type: string, body: string) =>
      send(siege.base, {
        method: 'POST',
        path: '/api/v2/workout/',
        headers: { ...signedIn(), 'Content-Type': type },
        body,
      });

    await attack(hostileTexts(OF_A_BODY), (text) =>
      to('application/x-www-form-urlencoded', `${encodeURIComponent(text)}=1`),
    );
    await attack(hostileTexts(OF_A_BODY), (text) => to('application/x-www-form-urlencoded', text));
    await attack(hostileTexts(OF_A_BODY), (text) =>
      to('application/json', JSON.stringify({ [text]: 1 })),
    );
    await attack(hostileTexts(OF_A_BODY), (text) => to('application/json', text));
  });

  test('is answered in time: username of a login', () =>
    attack(hostileTexts(OF_A_BODY), (text) =>
      send(siege.base, {
        method: 'POST',
        path: '/api/v2/login/',
        headers: json,
        body: JSON.stringify({ username: text, password: 'x' }),
      }),
    ));
});
