/**
 * Password hashing with argon2id. Imported PBKDF2 hashes are also verified, and replaced at
 * sign-in. Every check does the same work, so that its duration reveals neither whether a user name
 * exists nor whether the account was imported (timing attack).
 */
import { hash, verify } from '@node-rs/argon2';
import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { ClientError } from '../engine/declare/errors';
import { ConcurrencyLimiter, OverloadedError } from '../shared/limiter';

const deriveKey = promisify(pbkdf2);

export const hashPasswordNow = (password: string): Promise<string> => hash(password);

/**
 * An argon2id hash that no account uses. It is verified in place of a missing hash, so that every
 * password check does the same work.
 */
const DUMMY_HASH = hashPasswordNow('nobody has this password');

/** Format of imported Django hashes: `pbkdf2_sha256$<iterations>$<salt>$<base64 of 32 bytes>`. */
const IMPORTED_HASH_PATTERN = /^pbkdf2_sha256\$(\d{1,7})\$([^$]*)\$([^$]*)$/;
const DIGEST_BYTES = 32;

/**
 * SQL: the largest number of iterations of all imported hashes, from an index; 0 if there are none.
 */
export const MAX_IMPORTED_HASH_ITERATIONS_SQL = `(SELECT
  COALESCE(max(substring("password" FROM '^pbkdf2_sha256\\$(\\d{1,7})\\$')::integer), 0)
  FROM "account" WHERE "password" LIKE 'pbkdf2\\_sha256$%')`;

export const MAX_QUEUED_CHECKS = 64;
export const MAX_QUEUE_WAIT_MS = 10_000;

/**
 * Limits concurrent password checks, because each occupies a core and a thread of the libuv pool
 * (which also serves files and DNS) for up to several hundred ms. The queue is fair, so that an
 * attacker delays only their own network.
 */
const passwordLimiter = new ConcurrencyLimiter<string | undefined>({
  slots: Math.max(1, Math.min(4, availableParallelism()) - 1),
  maxQueued: MAX_QUEUED_CHECKS,
  maxWaitMs: MAX_QUEUE_WAIT_MS,
});
const RETRY_AFTER_SECONDS = 2;

interface PasswordVerification {
  isValid: boolean;

  /** Whether an imported PBKDF2 hash should be replaced by an argon2id hash. */
  isHashOutdated: boolean;
}

/**
 * Checks a password in the queue. `targetIterations` is the value of
 * MAX_IMPORTED_HASH_ITERATIONS_SQL. Throws OVERLOADED if the queue is full.
 */
export const verifyPassword = (
  storedHash: string | undefined,
  password: string,
  targetIterations = 0,
  clientNetwork?: string,
): Promise<PasswordVerification> =>
  runQueued(passwordLimiter, clientNetwork, () =>
    verifyPasswordNow(storedHash, password, targetIterations),
  );

/**
 * Hashes a password in the queue for password checks. Throws OVERLOADED if the queue is full or the
 * wait too long.
 */
export const hashPassword = (password: string, clientNetwork?: string): Promise<string> =>
  runQueued(passwordLimiter, clientNetwork, () => hashPasswordNow(password));

/**
 * Runs a step of a sign-in in the queue of a limiter. Throws OVERLOADED, with `retryAfter` in
 * seconds, if the queue is full or the wait too long.
 */
export async function runQueued<Client, T>(
  limiter: ConcurrencyLimiter<Client>,
  client: Client,
  callback: () => Promise<T>,
): Promise<T> {
  try {
    return await limiter.run(client, callback);
  } catch (error) {
    if (!(error instanceof OverloadedError)) throw error;
    throw new ClientError('OVERLOADED', 'Too many people are signing in. Try again in a moment.', {
      retryAfter: RETRY_AFTER_SECONDS,
    });
  }
}

async function verifyPasswordNow(
  storedHash: string | undefined,
  password: string,
  targetIterations: number,
): Promise<PasswordVerification> {
  let isArgon2Valid: boolean | undefined;

  if (storedHash?.startsWith('$argon2')) {
    isArgon2Valid = await verify(storedHash, password).catch(() => undefined);
  }

  if (isArgon2Valid === undefined) await verify(await DUMMY_HASH, password);
  const importedHash = parseImportedHash(storedHash);
  let isPbkdf2Valid = false;

  if (importedHash) {
    const { salt, iterations, digest } = importedHash;
    const derivedDigest = await deriveKey(password, salt, iterations, DIGEST_BYTES, 'sha256');

    isPbkdf2Valid = timingSafeEqual(derivedDigest, digest);
  }

  // Every password check runs as many PBKDF2 iterations as the slowest imported hash requires.
  const missingIterations = targetIterations - (importedHash?.iterations ?? 0);

  if (missingIterations > 0) {
    await deriveKey(password, 'nobody', missingIterations, DIGEST_BYTES, 'sha256');
  }

  return {
    isValid: isArgon2Valid === true || isPbkdf2Valid,
    isHashOutdated: importedHash !== undefined,
  };
}

function parseImportedHash(
  storedHash: string | undefined,
): { iterations: number; salt: string; digest: Buffer } | undefined {
  const [, iterations, salt, base64] = IMPORTED_HASH_PATTERN.exec(storedHash ?? '') ?? [];
  const digest = Buffer.from(base64 ?? '', 'base64');

  if (digest.length !== DIGEST_BYTES || !(Number(iterations) > 0)) return undefined;

  return { iterations: Number(iterations), salt: salt!, digest };
}
