/** The schema of Fitgraph 0.2, as its own migrations made it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const STATEMENTS = path.join(__dirname, '../database/schema-0.2.sql');

/** Creates it in an empty database, together with the table that names those migrations. */
export const createSchema02 = (client: { query(text: string): Promise<unknown> }): Promise<unknown> =>
  client.query(readFileSync(STATEMENTS, 'utf8'));
