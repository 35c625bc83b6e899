/** Passwords are kept as argon2id hashes; those of an imported account are verified as they came and replaced at login. */
import { hash, verify } from '@node-rs/argon2';
import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

export const hashPassword = (password: string): Promise<string> => hash(password);

/** Verifying against it takes as long as against a real hash, so that an unknown name is not told apart by time. */
const NOBODY = hashPassword('nobody has this password');

export interface Verdict {
  valid: boolean;
  /** The stored hash is of an old kind and should be replaced. */
  outdated: boolean;
}

export async function verifyPassword(stored: string | undefined, password: string): Promise<Verdict> {
  if (stored === undefined) {
    await verify(await NOBODY, password);
    return { valid: false, outdated: false };
  }
  if (stored.startsWith('pbkdf2_sha256$')) return { valid: await verifyDjango(stored, password), outdated: true };
  if (!stored.startsWith('$argon2')) return { valid: false, outdated: false };
  return { valid: await verify(stored, password), outdated: false };
}

/** Django's form: `pbkdf2_sha256$<iterations>$<salt>$<base64 of 32 bytes>`. */
async function verifyDjango(stored: string, password: string): Promise<boolean> {
  const [, iterations, salt, digest] = stored.split('$');
  const expected = Buffer.from(digest ?? '', 'base64');
  if (!/^\d+$/.test(iterations ?? '') || expected.length !== 32) return false;
  const actual = await derive(password, salt!, Number(iterations), 32, 'sha256');
  return timingSafeEqual(actual, expected);
}
