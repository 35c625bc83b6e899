/**
 * Prepared statements: their number is bounded for any number of different filters, and each
 * response belongs to its request.
 */
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { MAX_ERRORS_PER_RESPONSE } from '../../../src/engine/declare/errors';
import {
  MAX_PREPARED_STATEMENTS,
  PreparedStatements,
} from '../../../src/database/prepared-statements';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { randomFor, seeded, type Random } from '../../setup/random';
import { until } from '../../setup/waits';

const DIFFERENT_STATEMENTS = 1_500;
const TIMES = 3;
const MEMORY_MB = 15;
const CONCURRENT_REQUESTS = 40;

// One connection serves all anonymous clients.
const fitgraph = fitgraphForThisFile({
  environment: {
    DATABASE_POOL: '2',
    BUDGET: 'off',
    MAX_WAITING: '10000',
    MAX_WAIT: 'off',
    ANONYMOUS_TIMEOUT: '500ms',
  },
});

const QUERY =
  'query ($where: ExerciseTranslationWhere) { exerciseTranslations(first: 2, where: $where) { nodes { id } } }';

/**
 * Returns a filter whose conditions follow the bits of the number, so that each number gives a
 * different statement. It matches one exercise (`id`).
 */
function filterOf(number: number): { where: object; id: string } {
  const texts = ['contains', 'startsWith', 'endsWith'].flatMap((test) =>
    ['name', 'description'].map((field) => ({ [field]: { [test]: '#' } })),
  );
  const ids = ['in', 'isNull'].flatMap((test) =>
    ['languageId', 'licenseId'].map((field) => ({
      [field]: { [test]: test === 'in' ? ['77'] : true },
    })),
  );
  const neverMatching = [...texts, ...ids, { category: { name: { eq: '#' } } }].filter(
    (_part, bit) => (number >> bit) & 1,
  );
  const id = String(1 + (number % 3));

  return { where: { or: [...neverMatching, { id: { eq: id } }] }, id };
}

/** Returns the results of `ask` for all connections that serve anonymous clients. */
async function withConnections<T>(ask: (client: Client) => Promise<T>): Promise<T[]> {
  const { pool } = fitgraph.database.statementServices.anonymous;
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));

  try {
    return await Promise.all(clients.map((client) => ask(client as unknown as Client)));
  } finally {
    for (const client of clients) client.release();
  }
}

const countPreparedStatements = async (client: Client): Promise<number> =>
  (await client.query('SELECT count(*)::int AS "kept" FROM pg_prepared_statements')).rows[0].kept;

/** Returns the private memory of the backend in MB, without shared buffers. */
async function memoryOf(client: Client): Promise<number> {
  const { pid } = (await client.query('SELECT pg_backend_pid() AS "pid"')).rows[0];
  const [, anonymous] = /RssAnon:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))!;

  return Number(anonymous) / 1024;
}

/** Sends all items, AT_ONCE at a time. */
async function each<T>(items: readonly T[], send: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];

  const next = async (): Promise<void> => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop()) await send(item);
  };

  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, next));
}

const numbers = (length: number) => Array.from({ length }, (_, index) => index);

/** Not more than the errors of a response, so that the code of each failed statement is known. */
const FIELDS_PER_OPERATION = MAX_ERRORS_PER_RESPONSE;
const QUERY_OF_MANY_FIELDS = `query (${numbers(FIELDS_PER_OPERATION)
  .map((index) => `$w${index}: ExerciseTranslationWhere`)
  .join(' ')}) { ${numbers(FIELDS_PER_OPERATION)
  .map((index) => `a${index}: exerciseTranslations(first: 2, where: $w${index}) { nodes { id } }`)
  .join(' ')} }`;

/**
 * Codes of errors that statements have on a busy machine: they wait for a connection for too long,
 * or run for longer than ANONYMOUS_TIMEOUT.
 */
const TRANSIENT_CODES: unknown[] = ['SERVICE_UNAVAILABLE', 'TIMEOUT'];

/**
 * Sends different statements in one operation and checks their results. Retries after errors that a
 * busy machine causes.
 */
async function expectCorrectResults(first: number): Promise<void> {
  const all = numbers(FIELDS_PER_OPERATION).map((index) => filterOf(first + index));
  const variables = Object.fromEntries(all.map(({ where }, index) => [`w${index}`, where]));
  let answer: Awaited<ReturnType<typeof fitgraph.anonymous.query>> | undefined;

  await until('all statements have run', async () => {
    answer = await fitgraph.anonymous.query(QUERY_OF_MANY_FIELDS, variables);
    return (
      answer.errors?.every(({ extensions }) => TRANSIENT_CODES.includes(extensions.code)) !== true
    );
  });
  expect(answer!.errors).toBeUndefined();
  expect(Object.values(answer!.data)).toEqual(all.map(({ id }) => ({ nodes: [{ id }] })));
}

const runStatements = (count: number) =>
  each(numbers(count / FIELDS_PER_OPERATION), (index) =>
    expectCorrectResults(index * FIELDS_PER_OPERATION),
  );

test('bounds prepared statements and memory for thousands of different filters', async () => {
  for (let time = 0; time < TIMES; time += 1) await runStatements(DIFFERENT_STATEMENTS);
  const [preparedCount] = await withConnections(countPreparedStatements);

  expect(preparedCount).toBeLessThanOrEqual(MAX_PREPARED_STATEMENTS);
  expect(preparedCount).toBeGreaterThan(MAX_PREPARED_STATEMENTS / 2);
  const [memory] = await withConnections(memoryOf);

  expect(memory).toBeLessThan(MEMORY_MB);
});

test('does not prepare statements that are used once', async () => {
  for (let time = 0; time < 5; time += 1) {
    await fitgraph.anonymous.get('/muscle/?limit=2&ordering=name');
  }

  const [before] = await withConnections(countPreparedStatements);

  for (let time = 0; time < 20; time += 1) {
    expect((await fitgraph.anonymous.get('/exercise/?limit=2')).status).toBe(200);
  }

  for (let once = 1; once < 20; once += 1) {
    expect((await fitgraph.anonymous.get(`/ingredient/?id=${once}&ordering=-id`)).status).toBe(200);
  }

  const [after] = await withConnections(countPreparedStatements);

  expect(after! - before!).toBeLessThanOrEqual(10);
});

/** Sends a request and disconnects while its statement runs or waits. */
async function sendAndDisconnect(number: number, random: Random): Promise<void> {
  const request = http.request(`${fitgraph.url}/graphql`, {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json' },
  });

  request.on('error', () => undefined);
  request.end(JSON.stringify({ query: QUERY, variables: { where: filterOf(number).where } }));
  await sleep(random.below(20));
  request.destroy();
}

test(seeded('returns correct rows while other statements are cancelled or time out'), async () => {
  const random = randomFor('clients that go away');
  const blocker = new Client(fitgraph.database.options.connection);

  await blocker.on('error', () => undefined).connect();
  let timeouts = 0;

  const send = async (number: number) => {
    if (number % 5 === 0) return sendAndDisconnect(number, random);
    const { where, id } = filterOf(number);
    const answer = await fitgraph.anonymous.query(QUERY, { where });

    if (answer.code === 'TIMEOUT') timeouts += 1;
    else {
      expect([answer.errors, answer.data?.exerciseTranslations.nodes]).toEqual([
        undefined,
        [{ id }],
      ]);
    }
  };

  try {
    for (let round = 0; round < 2; round += 1) {
      const all = numbers(300);
      const sent = [each(all.slice(0, 150), send)];

      await blocker.query('BEGIN; LOCK TABLE "exercise" IN ACCESS EXCLUSIVE MODE');
      sent.push(each(all.slice(150), send));
      const before = timeouts;

      await until('statements that wait for the lock have timed out', () => timeouts >= before + 2);
      await blocker.query('ROLLBACK');
      await Promise.all(sent);
    }
  } finally {
    await blocker.end();
  }

  await runStatements(300);
  const [preparedCount] = await withConnections(countPreparedStatements);

  expect(preparedCount).toBeLessThanOrEqual(MAX_PREPARED_STATEMENTS);
});

test.each([
  ['sends statements one at a time', false],
  ['pipelines statements', true],
])(
  'bounds prepared statements and keeps results apart on a connection that %s',
  async (_how, pipeline) => {
    const prepared = new PreparedStatements();
    const client = new Client({ ...fitgraph.database.options.connection, pipeline } as never);

    await client.connect();

    try {
      const ask = (number: number) => {
        // Some statements fail at execution, some at parsing.
        let expression = '$1::int';

        if (number % 7 === 0) expression = '1 / ($1::int - $1)';
        else if (number % 11 === 0) expression = '"no such column"';
        const text = `SELECT ${expression} AS "answer", ${number} AS "number", '${'x'.repeat(number)}' AS "long"`;
        const name = prepared.countUseAndGetName(text);

        if (name !== undefined) prepared.getOrCreateState(client, name, text);

        return client.query({ name, text, values: [number] }).then(
          ({ rows: [row] }) =>
            expect([expression, row.answer, row.number]).toEqual(['$1::int', number, number]),
          // When pipelining, pg does not know yet that parsing has failed for an earlier statement
          // of the same name.
          (error) =>
            expect(
              number % 7 === 0 ? ['22012'] : ['42703', ...(pipeline ? ['26000'] : [])],
            ).toContain(error.code),
        );
      };

      for (let time = 0; time < 6; time += 1) await Promise.all(numbers(700).map(ask));

      // The same statements in other orders.
      for (let time = 0; time < 6; time += 1) {
        await Promise.all(numbers(150).flatMap((number) => [ask(number), ask(number + time * 90)]));
      }

      for (let number = 0; number < 700; number += 1) await ask(number);
      expect(await countPreparedStatements(client)).toBeLessThanOrEqual(MAX_PREPARED_STATEMENTS);
    } finally {
      await client.end();
    }
  },
);
