/** Upload quota per user. A database lock makes sure that concurrent uploads cannot exceed it. */
import { stat } from 'node:fs/promises';
import type { QueryOptions, Sequelize } from 'sequelize';
import { InvalidInput } from '../core/model/errors';
import { invalidValueIssue, type InputPath } from '../core/model/validationissues';
import { ADVISORY_LOCK_CLASSES } from '../database/advisorylocks';
import type { UploadedFile } from '../platform/multipart';
import { causeOfUploadFailure } from './upload';

const MB = 1024 * 1024;

const formatBytes = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`;

/** Returns the size in bytes of an uploaded file. Validation has already re-encoded it, so this is also the size of the stored file. */
export async function storedFileBytes({ path }: UploadedFile): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw causeOfUploadFailure(path, error);
  }
}

export interface NewFile {
  inputPath: InputPath;
  file: UploadedFile;
  /** Id of the row whose current file the new one replaces. */
  replacedRowId?: number;
}

/** Throws InvalidInput if the uploads, together with the user's other files in `table`, exceed the quota. */
export async function checkQuota(
  table: string,
  userId: number,
  uploads: readonly NewFile[],
  quotaBytes: number,
  sequelize: Sequelize,
  options: QueryOptions,
): Promise<void> {
  await sequelize.query('SELECT pg_advisory_xact_lock($1, $2)', {
    ...options,
    bind: [ADVISORY_LOCK_CLASSES.quota, userId],
  });
  const replacedRowIds = uploads.flatMap(({ replacedRowId }) => replacedRowId ?? []);
  const sumBytesSql = `SELECT coalesce(sum("bytes"), 0)::float8 AS "taken" FROM "${table}" WHERE "user_id" = $1 AND NOT "row_id" = ANY($2::int[])`;
  const [[total]] = (await sequelize.query(sumBytesSql, {
    ...options,
    bind: [userId, replacedRowIds],
  })) as unknown as [[{ taken: number }]];
  let usedBytes = total.taken;
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
  sequelize: Sequelize,
  options: QueryOptions,
): Promise<void> {
  await sequelize.query(
    `UPDATE "${table}" t SET "bytes" = x."bytes" FROM unnest($1::int[], $2::bigint[]) AS x("id", "bytes") WHERE t."row_id" = x."id"`,
    { ...options, bind: [storedFiles.map(({ id }) => id), storedFiles.map(({ bytes }) => bytes)] },
  );
}
