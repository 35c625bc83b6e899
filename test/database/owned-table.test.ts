/** `createOwnedTableMigration`, the helper of migrations, compared with an existing table. */
import { Client } from 'pg';
import { createOwnedTableMigration } from '../../src/database/owned-table';
import { assignRowSecurityPolicies } from '../../src/database/viewer-role';
import { createDatabase } from '../setup/databases';
import { describeTables } from '../setup/database-tables';

const COPY = 'meal_item_again';

test('creates the same structure as an existing owned table, and drops it', async () => {
  const { connection, drop } = await createDatabase('tables');
  const client = new Client(connection);

  await client.connect();

  try {
    const { up, down } = createOwnedTableMigration(COPY, {
      columns: {
        meal_id: 'integer NOT NULL',
        ingredient_id: 'integer NOT NULL',
        weight_unit_id: 'integer',
        order: 'integer NOT NULL DEFAULT 1',
        amount: 'numeric(6, 2) NOT NULL',
      },
      parentTables: { meal_id: 'meal' },
      partOf: 'meal_id',
      publicTables: { ingredient_id: 'ingredient', weight_unit_id: 'ingredient_unit' },
      indexes: [['amount'], ['order']],
    });

    await up((sql) => client.query(sql));
    // Migrations do this after their last step.
    await assignRowSecurityPolicies(client);
    const { meal_item: existing, [COPY]: copy } = await describeTables(client, ['meal_item', COPY]);

    // That on references to foods follows from contributions, not from owned tables.
    existing!.triggers = existing!.triggers.filter(
      (trigger) => !/ meal_item_reference /.test(trigger),
    );
    expect(existing!.triggers).toHaveLength(8);
    expect(existing!.policies).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(copy).replaceAll(COPY, 'meal_item'))).toEqual(existing);
    await down((sql) => client.query(sql));
    expect((await client.query(`SELECT to_regclass('${COPY}') AS "table"`)).rows).toEqual([
      { table: null },
    ]);
  } finally {
    await client.end();
    await drop();
  }
});

test('enforces unique columns per user at the end of a statement', async () => {
  const { connection, drop } = await createDatabase('tables');
  const client = new Client(connection);

  await client.connect();

  try {
    await client.query(
      `INSERT INTO "user_account" ("username", "password") VALUES ('ann', ''), ('bob', '')`,
    );
    const { up } = createOwnedTableMigration('measure', {
      columns: { date: 'date NOT NULL' },
      uniqueColumns: ['date'],
      indexes: [['date DESC', 'id']],
    });

    await up((sql) => client.query(sql));
    const insert = (owner: number, day: number) =>
      client.query(
        `INSERT INTO "measure" ("user_id", "date") VALUES (${owner}, '2024-01-0${day}')`,
      );

    for (const day of [1, 2]) await insert(1, day);
    await insert(2, 1);
    await expect(insert(1, 1)).rejects.toMatchObject({ code: '23505' });
    await client.query(
      `UPDATE "measure" SET "date" = CASE "date" WHEN '2024-01-01' THEN DATE '2024-01-02' ELSE '2024-01-01' END WHERE "user_id" = 1`,
    );
    const { rows } = await client.query(
      `SELECT "operation" FROM "change" WHERE "table" = 'measure' ORDER BY "id"`,
    );

    expect(rows.map(({ operation }) => operation)).toEqual([
      'INSERT',
      'INSERT',
      'INSERT',
      'UPDATE',
      'UPDATE',
    ]);
  } finally {
    await client.end();
    await drop();
  }
});
