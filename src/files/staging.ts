/** Files that wait, unseen, until the rows that name them are there for good. */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PRIVATE_FOLDER, type MediaFolder } from './media';

export class Staging {
  /** Hidden, so that it is not served, and below the media folder, so that moving a file out of it is a rename. */
  private readonly folder: string;
  private readonly paths = new Set<string>();

  constructor(private readonly media: MediaFolder) {
    this.folder = join(media.root, `.import-${randomBytes(8).toString('hex')}`);
  }

  /** `path` is one that the media folder has a place for. */
  async add(path: string, source: string): Promise<void> {
    const place = join(this.folder, path);
    await mkdir(dirname(place), PRIVATE_FOLDER);
    await copyFile(source, place);
    this.paths.add(path);
  }

  /** Whether publishing would put the file in the place of a different one. */
  async wouldOverwrite(path: string): Promise<boolean> {
    const there = await readFile(this.media.place(path)!).catch(() => undefined);
    return there !== undefined && !there.equals(await readFile(join(this.folder, path)));
  }

  /** `replace`: the files of all other rows go. */
  async publish(replace: boolean): Promise<void> {
    if (replace)
      for (const name of await readdir(this.media.root).catch(() => []))
        if (join(this.media.root, name) !== this.folder) await rm(join(this.media.root, name), { recursive: true, force: true });
    for (const path of this.paths) {
      await this.media.remove([path]);
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
