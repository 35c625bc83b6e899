/**
 * Password hashing with argon2id. Imported PBKDF2 hashes are verified too, and replaced at sign-in. Every check does the same work, so that its
 * duration reveals neither whether a user name exists nor whether the account was imported (timing attack).
 */
import { hash, verify } from '@node-rs/argon2';
import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { ClientError } from '../core/model/errors';
import { ConcurrencyLimiter, OverloadedError } from '../platform/limiter';

const deriveKey = promisify(pbkdf2);

export const hashPassword = (password: string): Promise<string> => hash(password);

/**
 * argon2id hash that no account uses. It is verified if an account does not exist or has no argon2id hash, so that every password check does the same
 * work.
 */
const DUMMY_HASH = hashPassword('nobody has this password');

/** Format of imported Django hashes: `pbkdf2_sha256$<iterations>$<salt>$<base64 of 32 bytes>`. */
const IMPORTED_HASH_PATTERN = /^pbkdf2_sha256\$(\d{1,7})\$([^$]*)\$([^$]*)$/;
const DIGEST_BYTES = 32;

/** SQL: the largest number of iterations of all imported hashes; 0 if there are none. It is read from an index. */
export const MAX_IMPORTED_HASH_ITERATIONS_SQL = `(SELECT COALESCE(max(substring("password" FROM '^pbkdf2_sha256\\$(\\d{1,7})\\$')::integer), 0)
  FROM "account" WHERE "password" LIKE 'pbkdf2\\_sha256$%')`;

export const MAX_QUEUED_CHECKS = 64;
export const MAX_QUEUE_WAIT_MS = 10_000;

/**
 * Concurrency limiter for password checks. Each check occupies a core and a thread of the libuv pool, which also serves file and DNS access, for up to
 * several hundred ms. When a whole office signs in at once, its requests wait a few seconds. The queue is fair to client networks, so that an
 * attacker delays only their own network.
 */
const passwordLimiter = new ConcurrencyLimiter<string | undefined>({
  slots: Math.max(1, Math.min(4, availableParallelism()) - 1),
  maxQueued: MAX_QUEUED_CHECKS,
  maxWaitMs: MAX_QUEUE_WAIT_MS,
});
const RETRY_AFTER_SECONDS = 2;

export interface PasswordVerification {
  isValid: boolean;
  /** Whether the stored hash is an imported PBKDF2 hash, which should be replaced by an argon2id hash. */
  isHashOutdated: boolean;
}

/** Checks a password. `targetIterations` is the value of MAX_IMPORTED_HASH_ITERATIONS_SQL, `clientNetwork` the client network. Throws OVERLOADED if the queue is full. */
export const verifyPassword = (
  storedHash: string | undefined,
  password: string,
  targetIterations = 0,
  clientNetwork?: string,
): Promise<PasswordVerification> =>
  runWithinLimit(passwordLimiter, clientNetwork, () =>
    comparePasswordWithHash(storedHash, password, targetIterations),
  );

/** Hashes a password for a request, within the concurrency limit for password checks. Throws OVERLOADED if the queue is full or the wait is too long. */
export const hashPasswordWithinLimit = (
  password: string,
  clientNetwork?: string,
): Promise<string> => runWithinLimit(passwordLimiter, clientNetwork, () => hashPassword(password));

/**
 * Runs `callback`, which is a part of a sign-in, within a concurrency limit. Throws OVERLOADED, with `retryAfter` in seconds, if the queue is full or the
 * wait is too long.
 */
export async function runWithinLimit<Client, T>(
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

async function comparePasswordWithHash(
  storedHash: string | undefined,
  password: string,
  targetIterations: number,
): Promise<PasswordVerification> {
  const isArgon2Valid = storedHash?.startsWith('$argon2')
    ? await verify(storedHash, password).catch(() => undefined)
    : undefined;
  if (isArgon2Valid === undefined) await verify(await DUMMY_HASH, password);
  const importedHash = parseImportedHash(storedHash);
  const isPbkdf2Valid = importedHash
    ? timingSafeEqual(
        await deriveKey(
          password,
          importedHash.salt,
          importedHash.iterations,
          DIGEST_BYTES,
          'sha256',
        ),
        importedHash.digest,
      )
    : false;
  // Runs additional PBKDF2 iterations, so that every password check runs as many iterations as the slowest imported hash requires.
  const missingIterations = targetIterations - (importedHash?.iterations ?? 0);
  if (missingIterations > 0)
    await deriveKey(password, 'nobody', missingIterations, DIGEST_BYTES, 'sha256');
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
  return digest.length === DIGEST_BYTES && Number(iterations) > 0
    ? { iterations: Number(iterations), salt: salt!, digest }
    : undefined;
}
