/**
 * Viewers share one connection, and some of their statements fail. Each viewer sees only their own
 * rows, even with statements that have no condition on the owner.
 */
import type { Database } from '../../src/database/connection';
import type { StatementParameters } from '../../src/database/rows';
import type { DatabaseSession } from '../../src/database/session';
import { activateViewerRole } from '../../src/database/viewer-role';
import { open } from '../setup/databases';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { randomFor, seeded, type Random } from '../setup/random';

const fitgraph = fitgraphForThisFile();

/** Number of times that each viewer sends each kind of statement. */
const TIMES = 56;
const ROWS = 5;

let database: Database;
let ann: number;
let bob: number;

beforeAll(async () => {
  [ann, bob] = [(await fitgraph.user('ann')).id, (await fitgraph.user('bob')).id];

  for (const user of [ann, bob]) {
    await fitgraph.sql(
      `INSERT INTO "weight_entry" ("user_id", "date", "weight") SELECT $1, '2021-01-01'::date + n, 80 FROM generate_series(1, $2) n`,
      [user, ROWS],
    );
  }

  database = open(fitgraph.database.options.connection, { poolSize: 1 });
  await activateViewerRole(database, (message) => {
    throw new Error(message);
  });
});
afterAll(() => database?.close());

interface Viewer {
  id: number | null;
  session(): DatabaseSession;
}

const viewerOn = (pool: 'users' | 'anonymous', id: number | null): Viewer => ({
  id,
  session() {
    const session = database.createSession();

    session.setClient(pool, id ?? 'a network');
    return session;
  },
});

/**
 * Returns all kinds of viewers. One is an anonymous client on a connection of users, as if
 * anonymous clients had no pool of their own.
 */
const allViewers = (): Viewer[] => [
  viewerOn('users', ann),
  viewerOn('users', bob),
  viewerOn('users', null),
  viewerOn('anonymous', null),
];

const SELECT = 'SELECT "user_id" AS "user" FROM "weight_entry"';

const KINDS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

function statement(
  random: Random,
  kind: number,
): { text: string; values: StatementParameters; fails?: boolean } {
  const values: StatementParameters = [];

  switch (kind) {
    case 0:
      return { text: `${SELECT} /* ${random.below(300)} */`, values };
    case 1:
      values.needsCustomPlan = true;
      values.push(80);
      return { text: `${SELECT} WHERE "weight" = $1`, values };
    case 2:
      return {
        text: `${SELECT} WHERE 1 / ("id" * 0) > 1 OR 1 / $1::int > 1`,
        values: [0],
        fails: true,
      };
    case 3:
      return { text: `${SELECT} WHERE "id" = $1`, values: ['no number'], fails: true };
    case 4:
      return { text: `${SELECT} FROM nowhere`, values, fails: true };
    case 5:
      return {
        text: `WITH changed AS (UPDATE "weight_entry" SET "weight" = 80 RETURNING "user_id") SELECT "user_id" AS "user" FROM changed`,
        values,
      };
    default:
      return {
        text: random.pick([`${SELECT} ORDER BY "id"`, `${SELECT} WHERE "date" > '2020-01-01'`]),
        values,
      };
  }
}

async function expectOwnRows({ id, session }: Viewer, random: Random, kind: number): Promise<void> {
  const { text, values, fails } = statement(random, kind);
  const query = session().query(text, values);

  if (fails) {
    // Statements of kind 2 divide by zero only if the viewer has rows. Those of the other failing
    // kinds always fail.
    if (kind === 2) await query.catch(() => undefined);
    else await expect(query).rejects.toThrow(kind === 3 ? /invalid input syntax/ : /syntax error/);

    return;
  }

  expect({ text, users: (await query).map(({ user }) => user) }).toEqual({
    text,
    users: id === null ? [] : Array(ROWS).fill(id),
  });
}

test(
  seeded('shows viewers only their own rows, in random order and after failed statements'),
  async () => {
    const random = randomFor('viewers in random order');

    for (let time = 0; time < TIMES; time += 1) {
      const statements = allViewers().flatMap((viewer) =>
        KINDS.map((kind) => ({ asker: viewer, kind })),
      );

      for (const { asker: viewer, kind } of random.shuffled(statements)) {
        await expectOwnRows(viewer, random, kind);
      }
    }
  },
);

test(
  seeded('shows viewers only their own rows when statements are concurrent and some are cancelled'),
  async () => {
    const random = randomFor('viewers at the same time');

    for (let round = 0; round < 30; round += 1) {
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          if (random.below(4)) {
            return expectOwnRows(random.pick(allViewers()), random, random.pick(KINDS));
          }

          const session = random.pick(allViewers()).session();
          const query = session.query('SELECT pg_sleep(1)').catch(() => undefined);

          setTimeout(() => session.cancelReads(), random.below(20));
          return query;
        }),
      );
    }
  },
);

test('shows viewers their rows after identify() on the same session', async () => {
  const [own] = allViewers();

  for (let count = 0; count < 20; count += 1) {
    const session = own!.session();

    await session.queryForAuthentication('SELECT 1', []);
    expect(await session.query(SELECT)).toHaveLength(ROWS);
  }
});

test(
  seeded('shows viewers only their own rows in transactions, some of which are rolled back'),
  async () => {
    const random = randomFor('transactions');

    const write = ({ session: open }: Viewer, fails: boolean) => {
      const session = open();

      return session
        .transaction(async (transaction) => {
          const rows = await transaction.query(
            `UPDATE "weight_entry" SET "weight" = 81 RETURNING "user_id" AS "user"`,
          );

          if (fails) throw new Error('rolled back');

          return {
            statements: session.statementCount,
            users: rows.map(({ user }) => user as number),
          };
        })
        .catch(() => undefined);
    };

    for (let count = 0; count < 60; count += 1) {
      const viewer = random.pick(allViewers());
      const fails = random.below(3) === 0;
      const written = await write(viewer, fails);

      // Two statements: one begins the transaction and sets the viewer, the other is the UPDATE.
      expect(written).toEqual(
        fails
          ? undefined
          : { statements: 2, users: viewer.id === null ? [] : Array(ROWS).fill(viewer.id) },
      );
    }

    // The server itself sees all rows.
    const own: Viewer = { id: null, session: () => database.createSession() };

    expect((await write(own, false))!.users).toHaveLength(2 * ROWS);
    expect((await write(allViewers()[1]!, false))!.users).toHaveLength(ROWS);
  },
);
