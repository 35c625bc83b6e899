/** What every command that touches the database needs, opened before and closed after it. */
import { TokenVault } from '../auth/tokens';
import { readConfig, type Config } from '../config';
import type { Database, Session } from '../database/connection';
import { migrateUp } from '../database/migrate';
import { openDatabase } from '../database/open';
import { models } from '../schema';

export interface Desk {
  config: Config;
  database: Database;
  session: Session;
  vault: TokenVault;
}

export async function operate<T>(work: (desk: Desk) => Promise<T>, { migrate = true } = {}): Promise<T> {
  const config = readConfig();
  const opened = await openDatabase(config, models, (message) => process.stderr.write(`${message}\n`));
  try {
    if (migrate) await migrateUp(opened.database);
    return await work({ config, database: opened.database, session: opened.database.session(), vault: new TokenVault(opened.secretKey) });
  } finally {
    await opened.close();
  }
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** On a terminal one line that counts up, nothing otherwise. */
export function progress(what: string): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => void process.stderr.write(`\r${what}: ${done} of ${total} rows${done >= total ? '\n' : ''}`);
}
