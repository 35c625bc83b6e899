/** Creates the schema of Fitgraph 0.2, as its own migrations created it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const STATEMENTS = path.join(__dirname, '../database/schema-0.2.sql');

/** Creates the schema in an empty database, together with the table of applied migrations. */
export const createSchema02 = (client: {
  query(text: string): Promise<unknown>;
}): Promise<unknown> => client.query(readFileSync(STATEMENTS, 'utf8'));
