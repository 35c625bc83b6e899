/** The API key (token) of a user, for display to its owner. */
import type { Session } from '../database/session';
import { renewToken, getOrCreateToken } from './accounts';
import type { EventSource } from './securityevents';
import type { TokenVault } from './tokens';

export interface ApiKey {
  /** Digest, which identifies the key without revealing it. */
  id: string;
  created: string;
  /** Absent if encrypted with another SECRET_KEY: the key works but cannot be shown. */
  token?: string;
}

const SELECT_KEY = `SELECT encode("digest", 'hex') AS "id", "created", "sealed" FROM "token" WHERE "user_id" = $1`;

export async function findApiKey(userId: number, session: Session, vault: TokenVault): Promise<ApiKey | undefined> {
  const [row] = await session.query(SELECT_KEY, [userId]);
  return row && { id: row.id, created: row.created, token: vault.open(row.sealed) };
}

export async function ensureApiKey(userId: number, session: Session, vault: TokenVault): Promise<void> {
  await getOrCreateToken(userId, session, vault);
}

/** Replaces only the key with this id, so that submitting a form twice does not replace the key that was just created. */
export async function replaceApiKey(userId: number, id: string, session: Session, vault: TokenVault, by: EventSource): Promise<void> {
  const [row] = await session.query(SELECT_KEY, [userId]);
  if (row && row.id === id) await renewToken(userId, Buffer.from(id, 'hex'), session, vault, by);
}
