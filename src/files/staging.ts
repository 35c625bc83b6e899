/** Staging area for imported files: hidden until the rows that refer to them are committed. */
import { randomBytes } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import type { Media } from './media';

export class Staging {
  /** Hidden, so that it is not served, and within the file store, so that moving a file out of it is fast. */
  private readonly folder = `.import-${randomBytes(8).toString('hex')}`;
  private readonly sources = new Map<string, string>();

  constructor(private readonly media: Media) {}

  /** Stages a copy of `source` for a path, which must be valid for rows. */
  async add(path: string, source: string): Promise<void> {
    await this.media.files.write(`${this.folder}/${path}`, (localPath) => copyFile(source, localPath));
    this.sources.set(path, source);
  }

  /** Whether publishing would replace an existing file with different content. */
  async wouldOverwrite(path: string): Promise<boolean> {
    const existing = await this.media.files.read(path);
    return existing !== undefined && !existing.equals(await readFile(this.sources.get(path)!));
  }

  /** Moves all staged files to their paths. With `replace`, deletes all other files first. */
  async publish(replace: boolean): Promise<void> {
    const { files } = this.media;
    if (replace) for (const name of await files.folders('')) if (name !== this.folder) await files.discard(name);
    for (const path of this.sources.keys()) {
      await this.media.remove([path]);
      await files.move(`${this.folder}/${path}`, path);
    }
    await this.discard();
  }

  async discard(): Promise<void> {
    await this.media.files.discard(this.folder);
  }
}
