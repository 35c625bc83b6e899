/**
 * Keys of all PostgreSQL advisory locks
 * (https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS). Servers
 * of different versions exclude each other by these keys, so never change a released one.
 */

export const ADVISORY_LOCK_KEYS = {
  /** Advisory lock that serializes migrations, restores, and imports that drop keys and indexes. */
  migration: 7_316_402,

  /**
   * Advisory lock that is shared while files of deleted rows are removed, and exclusive while a
   * backup reads files.
   */
  files: 7_316_403,

  /**
   * Advisory lock that is held while a backup is restored or an interrupted restore is cleaned up.
   */
  restore: 7_316_404,

  /**
   * Advisory lock in the database `postgres`, held while the role and the database of the embedded
   * PostgreSQL are created.
   */
  embeddedOwner: 7_316_405,

  /** Advisory lock that serializes imports of foods and exercises. */
  catalogue: 7_316_406,

  /** Advisory lock that serializes the first sign-ins of people without a password. */
  accounts: 7_316_407,
} as const;

/**
 * First keys of the advisory locks that have two keys. PostgreSQL keeps them apart from locks with
 * one key.
 */
export const ADVISORY_LOCK_CLASSES = {
  /**
   * Advisory lock that every running server process holds in shared mode; the second key is the
   * random number of the process. When the lock is free, that process has ended, and others take
   * over the idempotency keys of its unfinished requests.
   */
  instance: 7_316_403,

  /**
   * Advisory lock that is held from the check of a user's upload quota until the uploads are
   * committed. Second key: the user id.
   */
  quota: 7_301,

  /**
   * Advisory lock that is held from the check of a user's daily contributions until new ones are
   * committed. Second key: the user id.
   */
  contribution: 7_303,

  /**
   * Advisory lock that reserves a file name until the row that refers to the file is committed.
   * Second key: the hash of the name.
   */
  fileName: 7_302,
} as const;

/**
 * SQL: first key of the advisory lock that a user holds while inserting into a table with unique
 * keys; the second key is the user id. If the names of two tables have the same hash, requests only
 * wait longer.
 */
export const insertionLockClassSql = (table: string): string => `hashtext('${table}')`;
