/**
 * Keys of all PostgreSQL advisory locks that Fitgraph uses. A lock has either one key or two. PostgreSQL keeps both kinds apart, so a lock with one key
 * may have the same number as a lock with two. During a rolling upgrade, servers of different versions exclude each other by these keys, so never change
 * the key of a lock that a published version uses. https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS
 */

export const ADVISORY_LOCK_KEYS = {
  /** Lock that one process at a time holds while it runs migrations, restores a backup, or imports rows with keys and indexes dropped. */
  migration: 7_316_402,
  /** Lock that is held in shared mode while files of deleted rows are removed, and in exclusive mode while a backup reads files. */
  files: 7_316_403,
  /** Lock that is held while a backup is restored, and while a killed restore is cleaned up. */
  restore: 7_316_404,
  /** Lock that is held in the database `postgres` while the role and the database of the embedded PostgreSQL are created. */
  embeddedOwner: 7_316_405,
} as const;

/** First keys of the advisory locks that have two keys. The comment of each lock says what its second key is. */
export const ADVISORY_LOCK_CLASSES = {
  /**
   * Lock of a running server process, whose random number is the second key. It is held in shared mode on the connection on which the process receives
   * notifications. Once the lock is free, other processes may take over the idempotency keys of requests that this process has not completed.
   */
  instance: 7_316_403,
  /** Lock with the user id as second key. Held from the check of the upload quota to the end of the transaction that stores the uploads. */
  quota: 7_301,
  /** Lock with the hash of a file name as second key. Held from the choice of the name until the row that refers to it is committed. */
  fileName: 7_302,
} as const;

/**
 * SQL: first key of the lock that a user holds while inserting rows into a table with unique keys; the second key is the user id. If the names of two
 * tables have the same hash, they share a lock, and requests only wait longer.
 */
export const insertionLockClassSql = (table: string): string => `hashtext('${table}')`;
