/** How many bytes of files one user may keep. The database decides, so that many uploads at the same time cannot pass it either. */
import { stat } from 'node:fs/promises';
import type { QueryOptions, Sequelize } from 'sequelize';
import { InvalidInput } from '../core/model/errors';
import { invalidValue, type Path } from '../core/model/mistakes';
import { LOCK_CLASSES } from '../database/locks';
import type { UploadedFile } from '../platform/multipart';

const MB = 1024 * 1024;

const said = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`;

/** What is kept of an examined file. */
export const keptBytes = async ({ path }: UploadedFile): Promise<number> => (await stat(path)).size;

export interface Sent {
  /** Of the field. */
  path: Path;
  file: UploadedFile;
  /** Of the row whose file it takes the place of. */
  id?: number;
}

/** Throws InvalidInput for files that do not fit beside those of `table` that the user has added. */
export async function demandRoom(
  table: string,
  userId: number,
  sent: readonly Sent[],
  quota: number,
  sequelize: Sequelize,
  options: QueryOptions,
): Promise<void> {
  await sequelize.query('SELECT pg_advisory_xact_lock($1, $2)', { ...options, bind: [LOCK_CLASSES.quota, userId] });
  const replaced = sent.flatMap(({ id }) => id ?? []);
  const sum = `SELECT coalesce(sum("bytes"), 0)::float8 AS "taken" FROM "${table}" WHERE "user_id" = $1 AND NOT "row_id" = ANY($2::int[])`;
  const [[found]] = (await sequelize.query(sum, { ...options, bind: [userId, replaced] })) as unknown as [[{ taken: number }]];
  let taken = found.taken;
  for (const { path, file } of sent) {
    const bytes = await keptBytes(file);
    const left = Math.max(0, quota - taken);
    if (bytes > left) {
      const message = `Your images may take ${said(quota)} together: ${said(left)} are left, and this one takes ${said(bytes)}. Delete some first.`;
      throw new InvalidInput([{ path, ...invalidValue(message) }]);
    }
    taken += bytes;
  }
}

export async function noteBytes(
  table: string,
  kept: readonly { id: number; bytes: number }[],
  sequelize: Sequelize,
  options: QueryOptions,
): Promise<void> {
  await sequelize.query(
    `UPDATE "${table}" t SET "bytes" = x."bytes" FROM unnest($1::int[], $2::bigint[]) AS x("id", "bytes") WHERE t."row_id" = x."id"`,
    { ...options, bind: [kept.map(({ id }) => id), kept.map(({ bytes }) => bytes)] },
  );
}
