/**
 * Passwords are kept as argon2id hashes; those of an imported account are verified as they came and replaced at login. Every check does the
 * same work whatever is stored, so that its time tells neither whether a name exists nor where its account came from.
 */
import { hash, verify } from '@node-rs/argon2';
import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { KnownError } from '../core/model/errors';
import { Limiter, Overloaded } from '../platform/limiter';

const derive = promisify(pbkdf2);

export const hashPassword = (password: string): Promise<string> => hash(password);

/** Stands for the hash of an account that is not there, or has none of this kind. */
const NOBODY = hashPassword('nobody has this password');

/** Imported: `pbkdf2_sha256$<iterations>$<salt>$<base64 of 32 bytes>`, as Django has it. */
const IMPORTED = /^pbkdf2_sha256\$(\d{1,7})\$([^$]*)\$([^$]*)$/;
const DIGEST_BYTES = 32;

/** Of imported hashes, how many iterations the costliest takes; 0 where there is none. An index has the answer ready. */
export const MOST_ITERATIONS = `(SELECT COALESCE(max(substring("password" FROM '^pbkdf2_sha256\\$(\\d{1,7})\\$')::integer), 0)
  FROM "account" WHERE "password" LIKE 'pbkdf2\\_sha256$%')`;

/**
 * A check takes a processor for some hundred milliseconds, and a thread that files and names of hosts wait for too. An office that signs in at once waits
 * some seconds; an attacker waits in the queue of the attacker's own network.
 */
const checks = new Limiter<string | undefined>({
  slots: Math.max(1, Math.min(4, availableParallelism()) - 1),
  maxQueued: 64,
  maxWaitMs: 10_000,
});
const RETRY_SECONDS = 2;

export interface Verdict {
  valid: boolean;
  /** The stored hash is of an old kind and should be replaced. */
  outdated: boolean;
}

/** `iterations`: as MOST_ITERATIONS has it; `caller`: the network that asks. OVERLOADED while there are too many to check. */
export const verifyPassword = (stored: string | undefined, password: string, iterations = 0, caller?: string): Promise<Verdict> =>
  inTurn(() => check(stored, password, iterations), caller);

/** For whoever asks over the network; OVERLOADED as `verifyPassword`. */
export const hashInTurn = (password: string, caller?: string): Promise<string> => inTurn(() => hashPassword(password), caller);

/** OVERLOADED (with `retryAfter` in seconds) while there are too many waiting. */
async function inTurn<T>(work: () => Promise<T>, caller?: string): Promise<T> {
  try {
    return await checks.run(caller, work);
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    throw new KnownError('OVERLOADED', 'Too many people are signing in. Try again in a moment.', { retryAfter: RETRY_SECONDS });
  }
}

async function check(stored: string | undefined, password: string, iterations: number): Promise<Verdict> {
  const own = stored?.startsWith('$argon2') ? await verify(stored, password).catch(() => undefined) : undefined;
  if (own === undefined) await verify(await NOBODY, password);
  const imported = importedHash(stored);
  const fits = imported
    ? timingSafeEqual(await derive(password, imported.salt, imported.iterations, DIGEST_BYTES, 'sha256'), imported.digest)
    : false;
  const missing = iterations - (imported?.iterations ?? 0);
  if (missing > 0) await derive(password, 'nobody', missing, DIGEST_BYTES, 'sha256');
  return { valid: own === true || fits, outdated: imported !== undefined };
}

function importedHash(stored: string | undefined): { iterations: number; salt: string; digest: Buffer } | undefined {
  const [, iterations, salt, base64] = IMPORTED.exec(stored ?? '') ?? [];
  const digest = Buffer.from(base64 ?? '', 'base64');
  return digest.length === DIGEST_BYTES && Number(iterations) > 0 ? { iterations: Number(iterations), salt: salt!, digest } : undefined;
}
