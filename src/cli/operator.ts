/** What every command that touches the database needs, opened before and closed after it. */
import { userInfo } from 'node:os';
import { note, type NewEvent } from '../auth/securityevents';
import { TokenVault } from '../auth/tokens';
import { ConfigError, readConfig, type Config } from '../platform/config';
import type { Database } from '../database/connection';
import type { Session } from '../database/session';
import { migrateUp } from '../database/migrate';
import { openDatabase } from '../database/open';
import { models } from '../graphql/schema';

export interface OperatorContext {
  config: Config;
  database: Database;
  session: Session;
  vault: TokenVault;
  secretKey: string;
}

function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without a name, as in some containers.
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

/** Notes in the audit log what an operator does. */
export const noteOf = (event: Pick<NewEvent, 'kind' | 'userId' | 'detail'>, session: Session): Promise<void> =>
  note({ ...event, operator: operatorName() }, (text, values) => session.query(text, values));

/** A command that started the database itself reads this when PostgreSQL was killed. */
const STOPPED = 'The embedded database was stopped, with the server that had started it perhaps: run the command again';

export async function operate<T>(
  work: (context: OperatorContext) => Promise<T>,
  { migrate = true, key = true, config = readConfig() } = {},
): Promise<T> {
  const opened = await openDatabase(config, models, (message) => process.stderr.write(`${message}\n`), { key });
  try {
    if (migrate) await migrateUp(opened.database);
    const { database, secretKey } = opened;
    return await work({ config, database, session: database.session(), vault: new TokenVault(secretKey), secretKey });
  } catch (error) {
    if (await opened.hasStopped()) throw new ConfigError(STOPPED);
    throw error;
  } finally {
    await opened.close();
  }
}

/** `1 row`, `2 rows` */
export const counted = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

const SHOWN_EVERY_MS = 200;

/** On a terminal one line that counts up, with how many a second and how long it still takes; nothing otherwise. */
export function stages(): (what: string, done: number, total?: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  let [stage, began, shown] = ['', 0, 0];
  return (what, done, total) => {
    const now = performance.now();
    if (what !== stage) [stage, began, shown] = [what, now, 0];
    const last = total !== undefined && done >= total;
    if (!last && now - shown < SHOWN_EVERY_MS) return;
    shown = now;
    process.stderr.write(`\r\x1b[K${what}: ${progressLine(done, total, (now - began) / 1000)}${last ? '\n' : ''}`);
  };
}

/** `1,200 of 5,000, 400 a second, 10 s left` */
export function progressLine(done: number, total: number | undefined, seconds: number): string {
  const said = (number: number) => Math.round(number).toLocaleString('en');
  const rate = seconds > 0 ? done / seconds : 0;
  const left = total !== undefined && rate > 0 && done < total ? `, ${said((total - done) / rate)} s left` : '';
  return `${said(done)}${total === undefined ? '' : ` of ${said(total)}`}${rate > 0 ? `, ${said(rate)} a second` : ''}${left}`;
}

export function progress(what: string): (done: number, total: number) => void {
  const show = stages();
  return (done, total) => show(`${what}, rows`, done, total);
}
