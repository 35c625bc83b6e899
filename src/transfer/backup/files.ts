/** The files of a backup, hidden until the rows that name them are there for good. */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../../database/connection';
import { KnownError } from '../../core/model/errors';
import { PRIVATE_FILE, PRIVATE_FOLDER, type MediaFolder } from '../../files/media';
import { looksLikeThumbnail } from '../../files/names';
import { RESTORE_LOCK } from './tables';

const PREFIX = '.restore-';
const ID = /^\.restore-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export class WaitingFiles {
  /** Below the media folder, so that moving a file out of it is a rename. */
  private readonly folder: string;

  constructor(
    private readonly media: MediaFolder,
    id: string,
  ) {
    this.folder = join(media.root, PREFIX + id);
  }

  async add(path: string, content: AsyncIterable<Buffer>): Promise<void> {
    if (!this.media.place(path)) throw new KnownError('BAD_USER_INPUT', `${JSON.stringify(path)} is no path of the media folder`);
    const place = join(this.folder, path);
    await mkdir(dirname(place), PRIVATE_FOLDER);
    await pipeline(content, createWriteStream(place, { flags: 'wx', mode: PRIVATE_FILE, flush: true }));
  }

  /** Done again from the beginning, it does what is left of it. */
  async publish(): Promise<void> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => relative(this.folder, join(entry.parentPath, entry.name)));
    // With an image go the thumbnails of another one that was in its place; only then come its own.
    for (const path of [...paths.filter((name) => !looksLikeThumbnail(name)), ...paths.filter(looksLikeThumbnail)]) {
      if (!looksLikeThumbnail(path)) await this.media.remove([path]);
      const place = this.media.place(path)!;
      await mkdir(dirname(place), PRIVATE_FOLDER);
      await rename(join(this.folder, path), place);
    }
    await this.discard();
  }

  async discard(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** What a restore that was killed has left: published if its rows are there, else removed. One that is at work is left to itself. */
export async function finishRestores(database: Database, media: MediaFolder): Promise<void> {
  const ids = (await readdir(media.root).catch(() => [])).flatMap((name) => ID.exec(name)?.[1] ?? []);
  if (!ids.length) return;
  await database.unlimited(async (client) => {
    const [lock] = (await client.query('SELECT pg_try_advisory_lock($1) AS "free"', [RESTORE_LOCK])).rows;
    if (!lock.free) return;
    try {
      const { rows } = await client.query('SELECT "id" FROM "restored" WHERE "id" = ANY($1)', [ids]);
      for (const id of ids) {
        const files = new WaitingFiles(media, id);
        await (rows.some((row) => row.id === id) ? files.publish() : files.discard());
      }
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [RESTORE_LOCK]);
    }
  });
}
