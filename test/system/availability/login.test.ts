/** Password guessing, and the load that it causes. */
import {
  LIVENESS_LIMIT_MS,
  graphql,
  MEMORY_MB,
  RESPONSE_LIMIT_MS,
  send,
  Siege,
  type Reply,
} from './server-under-attack';

/** Number of concurrent logins, all of which fit into the queue of password checks. */
const ATTACKERS = 60;

let siege: Siege;

beforeAll(async () => {
  siege = await Siege.start();
});
afterAll(() => siege.end());

const codes = ({ text }: Reply) =>
  (JSON.parse(text).errors ?? []).map((error: any) => error.extensions.code);

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
])('rejects an operation that repeats `login` 300 times by %s', async (_way, document) => {
  const fields = Array.from(
    { length: 300 },
    (_, index) => `a${index}: login(username: "n${index}", password: "a wrong password") { token }`,
  );
  const { result, aliveMs, answerLimitMs } = await siege.measureDuring(() =>
    graphql(siege.base, document(fields.join(' '))),
  );

  expect(result.text).toContain('`login` is allowed only once in an operation.');
  expect(codes(result)).toContain('GRAPHQL_VALIDATION_FAILED');
  expect(result.text.length).toBeLessThan(10_000);
  expect(result.ms).toBeLessThan(answerLimitMs);
  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
});

test('signs in once for a fragment with `login` that is spread 100 times', async () => {
  const spreads = '...F '.repeat(100);
  const document = `mutation { ${spreads} } fragment F on Mutation { login(username: "n", password: "a wrong password") { token } }`;

  expect(JSON.parse((await graphql(siege.base, document)).text)).toEqual({
    data: { login: { token: null } },
  });
});

test('stays responsive during 60 concurrent logins with different usernames', async () => {
  const time = siege.timer();
  const checksMs: number[] = [];

  for (let index = 0; index < 5; index += 1) checksMs.push((await time(() => login('one'))).ms);
  const { result, aliveMs, answerLimitMs, memoryMb } = await siege.measureDuring(async () => {
    const attackers = Array.from({ length: ATTACKERS }, (_, index) => login(`nobody${index}`));
    // Other requests must be served meanwhile: password hashing shares its threads with file and
    // DNS access.
    const otherRequests = Array.from({ length: 10 }, () =>
      send(siege.base, { path: '/api/v2/exercise/?limit=1' }),
    );

    return { attackers: await Promise.all(attackers), others: await Promise.all(otherRequests) };
  });

  // Passwords are checked in turn, so the last attacker waits for all checks, whose duration depends
  // on the processor, but for nothing else.
  const [, , checkMs] = checksMs.sort((a, b) => a - b);
  const delaysMs = answerLimitMs - RESPONSE_LIMIT_MS;
  const attackerLimitMs = ATTACKERS * checkMs! + LIVENESS_LIMIT_MS + delaysMs;

  for (const { status, ms, headers } of result.attackers) {
    expect([401, 429, 503]).toContain(status);
    if (status !== 401) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(ms).toBeLessThan(attackerLimitMs);
  }

  for (const { status, ms } of result.others) {
    expect(status).toBe(200);
    expect(ms).toBeLessThan(answerLimitMs);
  }

  expect(aliveMs).toBeLessThan(LIVENESS_LIMIT_MS);
  expect(memoryMb).toBeLessThan(MEMORY_MB);
});

test('limits password guesses across usernames, over REST and GraphQL', async () => {
  let guesses = 0;
  let rejected: Reply | undefined;

  for (let index = 0; index < 200 && !rejected; index += 1) {
    const reply = await login(`name${index}`);

    if (reply.status === 429) rejected = reply;
    else guesses += 1;
  }

  expect(guesses).toBeLessThanOrEqual(100);
  expect(Number(rejected?.headers['retry-after'])).toBeGreaterThan(0);
  // The limit is shared by all interfaces.
  const document =
    'mutation { login(username: "another", password: "a wrong password") { token } }';

  expect(codes(await graphql(siege.base, document))).toEqual(['TOO_MANY_REQUESTS']);
});
