/** The API key (token) of one user, as its owner sees it. */
import type { Session } from '../database/session';
import { renewToken, tokenOf } from './accounts';
import type { By } from './securityevents';
import type { TokenVault } from './tokens';

export interface ApiKey {
  /** Tells keys apart without saying them. */
  id: string;
  created: string;
  /** Absent: sealed with another SECRET_KEY. It works, but can't be shown. */
  token?: string;
}

const FIND = `SELECT encode("digest", 'hex') AS "id", "created", "sealed" FROM "token" WHERE "user_id" = $1`;

export async function keyOf(userId: number, session: Session, vault: TokenVault): Promise<ApiKey | undefined> {
  const [row] = await session.query(FIND, [userId]);
  return row && { id: row.id, created: row.created, token: vault.open(row.sealed) };
}

export async function makeKey(userId: number, session: Session, vault: TokenVault): Promise<void> {
  await tokenOf(userId, session, vault);
}

/** A new key in place of that one only: who sends the same form twice does not lose the key that they have just copied. */
export async function replaceKey(userId: number, id: string, session: Session, vault: TokenVault, by: By): Promise<void> {
  const [row] = await session.query(FIND, [userId]);
  if (row && row.id === id) await renewToken(userId, Buffer.from(id, 'hex'), session, vault, by);
}
