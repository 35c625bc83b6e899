/** Files that wait, unseen, until the rows that name them are there for good. */
import { randomBytes } from 'node:crypto';
import { copyFile, readFile } from 'node:fs/promises';
import type { Media } from './media';

export class Staging {
  /** Hidden, so that it is not served, and where the files of rows are, so that moving one out of it is a moment's work. */
  private readonly folder = `.import-${randomBytes(8).toString('hex')}`;
  private readonly sources = new Map<string, string>();

  constructor(private readonly media: Media) {}

  /** `path` is one that files of rows may have. */
  async add(path: string, source: string): Promise<void> {
    await this.media.files.write(`${this.folder}/${path}`, (place) => copyFile(source, place));
    this.sources.set(path, source);
  }

  /** Whether publishing would put the file in the place of a different one. */
  async wouldOverwrite(path: string): Promise<boolean> {
    const there = await this.media.files.read(path);
    return there !== undefined && !there.equals(await readFile(this.sources.get(path)!));
  }

  /** `replace`: the files of all other rows go. */
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
