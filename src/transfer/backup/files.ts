/**
 * Staging of media files during a restore: the files stay in a hidden folder until the rows that
 * refer to them are committed.
 */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { UUID_REGEX_SOURCE } from '../../shared/bounds';
import type { Database } from '../../database/connection';
import { ADVISORY_LOCK_KEYS } from '../../database/advisory-locks';
import { ClientError } from '../../engine/declare/errors';
import { PRIVATE_FILE_MODE } from '../../files/file-store';
import type { Media } from '../../files/media';
import { isMediaPath } from '../../files/paths';
import { StagedFiles } from '../../files/staging';
import { formatArchiveValue } from './manifest';

const RESTORE_FOLDER_PREFIX = '.restore-';
const RESTORE_FOLDER_PATTERN = new RegExp(`^\\.restore-(${UUID_REGEX_SOURCE})$`);

export const stagedFilesOfRestore = (media: Media, id: string): StagedFiles =>
  new StagedFiles(media, RESTORE_FOLDER_PREFIX + id);

export async function stageFile(
  files: StagedFiles,
  path: string,
  content: AsyncIterable<Buffer>,
): Promise<void> {
  if (!isMediaPath(path)) {
    throw new ClientError(
      'BAD_USER_INPUT',
      `${formatArchiveValue(path)} is not a path in the media folder`,
    );
  }

  await files.add(path, (filePath) =>
    pipeline(
      content,
      createWriteStream(filePath, { flags: 'wx', mode: PRIVATE_FILE_MODE, flush: true }),
    ),
  );
}

async function findInterruptedRestoreIds(media: Media): Promise<string[]> {
  return (await media.files.listFolders(RESTORE_FOLDER_PREFIX)).flatMap(
    (name) => RESTORE_FOLDER_PATTERN.exec(name)?.[1] ?? [],
  );
}

/**
 * Cleans up after killed restores: publishes the staged files of a restore whose rows are
 * committed, and deletes the staged files of other restores. The connection must hold the restore
 * lock.
 */
export async function finishInterruptedRestores(client: ClientBase, media: Media): Promise<void> {
  const ids = await findInterruptedRestoreIds(media);

  if (!ids.length) return;
  const isTablePresent = (
    await client.query(`SELECT to_regclass('restored') IS NOT NULL AS "present"`)
  ).rows[0].present;
  let committedIds: string[] = [];

  if (isTablePresent) {
    const { rows } = await client.query('SELECT "id" FROM "restored" WHERE "id" = ANY($1)', [ids]);

    committedIds = rows.map((row) => row.id as string);
  }

  for (const id of ids) {
    const files = stagedFilesOfRestore(media, id);

    await (committedIds.includes(id) ? files.publish() : files.discard());
  }

  // Makes running servers read everything again, because a killed restore could not notify them.
  if (committedIds.length) await client.query(`SELECT pg_notify('fitgraph_everything', '')`);
}

/** Cleans up after killed restores when a server starts. Does nothing during a restore. */
export async function finishRestoresAtStart(database: Database, media: Media): Promise<void> {
  if (!(await findInterruptedRestoreIds(media)).length) return;
  await database.withoutTimeouts(async (client) => {
    const [lock] = (
      await client.query('SELECT pg_try_advisory_lock($1) AS "free"', [ADVISORY_LOCK_KEYS.restore])
    ).rows;

    if (!lock.free) return;

    try {
      await finishInterruptedRestores(client, media);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK_KEYS.restore]);
    }
  });
}
