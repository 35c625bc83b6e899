/** Guessing passwords, and work that it makes. */
import { ALIVE_MS, graphql, MEMORY_MB, send, Siege, type Reply } from './siege';

let siege: Siege;
beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

const codes = ({ text }: Reply) => (JSON.parse(text).errors ?? []).map((error: any) => error.extensions.code);

const login = (username: string, password = 'a wrong password') =>
  send(siege.base, {
    method: 'POST',
    path: '/api/v2/login/',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });

test.each([
  ['aliases', (fields: string) => `mutation { ${fields} }`],
  ['a fragment', (fields: string) => `mutation { ...F } fragment F on Mutation { ${fields} }`],
  ['inline fragments', (fields: string) => `mutation { ... { ... on Mutation { ${fields} } } }`],
])('an operation that signs in 400 times by %s', async (_way, document) => {
  const fields = Array.from(
    { length: 400 },
    (_, index) => `a${index}: login(username: "n${index}", password: "a wrong password") { token }`,
  );
  const { result, aliveMs, answerLimitMs } = await siege.under(() => graphql(siege.base, document(fields.join(' '))));
  expect(result.text).toContain('`login` may stand once in an operation.');
  expect(codes(result)).toContain('GRAPHQL_VALIDATION_FAILED');
  expect(result.text.length).toBeLessThan(10_000);
  expect(result.ms).toBeLessThan(answerLimitMs);
  expect(aliveMs).toBeLessThan(ALIVE_MS);
});

test('a fragment with a login that is spread often', async () => {
  const spreads = '...F '.repeat(400);
  const document = `mutation { ${spreads} } fragment F on Mutation { login(username: "n", password: "a wrong password") { token } }`;
  expect((await graphql(siege.base, document)).text).toContain('`login` may stand once in an operation.');
});

test('many connections, each with a new name', async () => {
  const { result, aliveMs, answerLimitMs, memoryMb } = await siege.under(async () => {
    const attackers = Array.from({ length: 60 }, (_, index) => login(`nobody${index}`));
    // Others are served meanwhile: files, the database, names of hosts wait for the same threads.
    const others = Array.from({ length: 10 }, () => send(siege.base, { path: '/api/v2/exercise/?limit=1' }));
    return { attackers: await Promise.all(attackers), others: await Promise.all(others) };
  });
  for (const { status, ms, headers } of result.attackers) {
    expect([401, 429, 503]).toContain(status);
    if (status !== 401) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(ms).toBeLessThan(answerLimitMs);
  }
  for (const { status, ms } of result.others) {
    expect(status).toBe(200);
    expect(ms).toBeLessThan(answerLimitMs);
  }
  expect(aliveMs).toBeLessThan(ALIVE_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('one password tried with many names', async () => {
  let guesses = 0;
  let refused: Reply | undefined;
  for (let index = 0; index < 200 && !refused; index += 1) {
    const reply = await login(`name${index}`);
    if (reply.status === 429) refused = reply;
    else guesses += 1;
  }
  expect(guesses).toBeLessThanOrEqual(100);
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
  // Over all interfaces.
  const document = 'mutation { login(username: "another", password: "a wrong password") { token } }';
  expect(codes(await graphql(siege.base, document))).toEqual(['TOO_MANY_REQUESTS']);
});
