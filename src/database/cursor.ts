/** Reads results of any size row by row, by a cursor. */
import type { ClientBase } from 'pg';
import type { Row } from './rows';

const ROWS_PER_FETCH = 1_000;

/** Yields the rows of a query within a transaction, one query at a time. */
export async function* rowsOfCursor(client: ClientBase, sql: string): AsyncGenerator<Row> {
  await client.query(`DECLARE "rows" NO SCROLL CURSOR FOR ${sql}`);

  for (;;) {
    const { rows } = await client.query(`FETCH ${ROWS_PER_FETCH} FROM "rows"`);

    if (!rows.length) break;
    yield* rows;
  }

  await client.query('CLOSE "rows"');
}
