/** Upload quota per user. A database lock makes sure that concurrent uploads cannot exceed it. */
import { stat } from 'node:fs/promises';
import { InvalidInput, invalidValueIssue, type InputPath } from '../engine/declare/errors';
import { ADVISORY_LOCK_CLASSES } from '../database/advisory-locks';
import type { Transaction } from '../database/transaction';
import type { UploadedFile } from '../shared/multipart';
import { toUploadError } from './upload';

const MB = 1024 * 1024;

const formatBytes = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`;

/**
 * Size of an uploaded file. Validation has already re-encoded it, so this is also the size of the
 * stored file.
 */
export async function storedFileBytes({ path }: UploadedFile): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw toUploadError(path, error);
  }
}

export interface NewFile {
  inputPath: InputPath;
  file: UploadedFile;

  /** Id of the row whose current file the new file replaces. */
  replacedRowId?: number;
}

/** Rejects uploads that, together with the user's other files in `table`, exceed the quota. */
export async function checkQuota(
  table: string,
  userId: number,
  uploads: readonly NewFile[],
  quotaBytes: number,
  transaction: Transaction,
): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [
    ADVISORY_LOCK_CLASSES.quota,
    userId,
  ]);
  const replacedRowIds = uploads.flatMap(({ replacedRowId }) => replacedRowId ?? []);
  const sumBytesSql = `SELECT coalesce(sum("bytes"), 0)::float8 AS "taken" FROM "${table}"
    WHERE "user_id" = $1 AND NOT "row_id" = ANY($2::int[])`;
  const [usage] = await transaction.query(sumBytesSql, [userId, replacedRowIds]);
  let usedBytes: number = usage!.taken;

  for (const { inputPath, file } of uploads) {
    const bytes = await storedFileBytes(file);
    const freeBytes = Math.max(0, quotaBytes - usedBytes);

    if (bytes > freeBytes) {
      const message = `Your images may take up ${formatBytes(quotaBytes)} in total: ${formatBytes(freeBytes)} are left, but this image needs ${formatBytes(bytes)}. Delete some images first.`;

      throw new InvalidInput([{ path: inputPath, ...invalidValueIssue(message) }]);
    }

    usedBytes += bytes;
  }
}

export async function recordFileBytes(
  table: string,
  storedFiles: readonly { id: number; bytes: number }[],
  transaction: Transaction,
): Promise<void> {
  await transaction.query(
    `UPDATE "${table}" t SET "bytes" = x."bytes"
      FROM unnest($1::int[], $2::bigint[]) AS x("id", "bytes") WHERE t."row_id" = x."id"`,
    [storedFiles.map(({ id }) => id), storedFiles.map(({ bytes }) => bytes)],
  );
}
