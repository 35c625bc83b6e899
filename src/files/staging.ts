/** Staging area for files of an import or a restore, which are hidden until the rows that refer to them are committed. */
import type { Media } from './media';
import { looksLikeThumbnail } from './paths';

export class StagedFiles {
  /**
   * `folder`: the staging folder. It must be hidden, so that its files are not served. It is within the file store, so that moving a file out of it is
   * fast.
   */
  constructor(
    private readonly media: Media,
    private readonly folder: string,
  ) {}

  /** Stages a file. `path` is its final path and must be one that rows may store. */
  add(path: string, createFile: (localPath: string) => Promise<void>): Promise<void> {
    return this.media.files.write(`${this.folder}/${path}`, createFile);
  }

  /** Moves all staged files to their paths. After an interruption, another call moves the rest. */
  async publish(): Promise<void> {
    const { files } = this.media;
    const paths = await files.listFiles(this.folder);
    // Moves originals before thumbnails: removing the former file at a path also removes its thumbnails, and would remove new ones as well.
    for (const path of [
      ...paths.filter((name) => !looksLikeThumbnail(name)),
      ...paths.filter(looksLikeThumbnail),
    ]) {
      if (!looksLikeThumbnail(path)) await this.media.remove([path]);
      await files.move(`${this.folder}/${path}`, path);
    }
    await this.discard();
  }

  async discard(): Promise<void> {
    await this.media.files.deleteFolder(this.folder);
  }
}
