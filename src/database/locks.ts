/**
 * The keys of all advisory locks. PostgreSQL keeps locks of one number apart from those of two, so a number may occur once in each group. Versions that
 * run at the same time during an upgrade exclude each other by these keys: the number of a released lock stays.
 * https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS
 */

/** Locks of one number. */
export const LOCKS = {
  /** Held while migrations run or the first rows are written: one process at a time. */
  migration: 7_316_402,
  /** Shared while files of deleted rows are removed, exclusive while a backup reads files. */
  files: 7_316_403,
  /** Held while a backup is restored, and while the remains of a killed restore are cleared. */
  restore: 7_316_404,
} as const;

/** First numbers of locks of two; the second number is named in each sentence. */
export const LOCK_CLASSES = {
  /** Held by a process as long as its connection lives, with the number of its instance: others take over its requests once the lock is free. */
  instance: 7_316_403,
  /** Held while the quota of a user, by id, is checked and used. */
  quota: 7_301,
  /** Held from the choice of a file's name, by its hash, until the row that names it is committed. */
  fileName: 7_302,
} as const;

/** SQL of the first number of the lock under which a user, by id, inserts rows into a table with unique keys. A collision of hashes costs a wait. */
export const insertionLockClass = (table: string): string => `hashtext('${table}')`;
