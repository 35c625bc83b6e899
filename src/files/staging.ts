/**
 * Staging area for files of an import or a restore, which are hidden until the rows that refer to
 * them are committed.
 */
import type { Media } from './media';
import { isThumbnailPath } from './paths';

export class StagedFiles {
  /**
   * `folder` must be hidden, so that its files are not served. It is within the file store, so that
   * moving a file out of it is fast.
   */
  constructor(
    private readonly media: Media,
    private readonly folder: string,
  ) {}

  /** Stages a file, to be published under `path`. */
  add(path: string, createFile: (localPath: string) => Promise<void>): Promise<void> {
    return this.media.files.write(`${this.folder}/${path}`, createFile);
  }

  /**
   * Moves all staged files to their final paths. After an interruption, another call moves the
   * rest.
   */
  async publish(): Promise<void> {
    const { files } = this.media;
    const paths = await files.listFiles(this.folder);

    // Moves originals before thumbnails: removing the previous file at a path also removes its
    // thumbnails, and would remove thumbnails that were already moved.
    for (const path of [
      ...paths.filter((name) => !isThumbnailPath(name)),
      ...paths.filter(isThumbnailPath),
    ]) {
      if (!isThumbnailPath(path)) await this.media.remove([path]);
      await files.move(`${this.folder}/${path}`, path);
    }

    await this.discard();
  }

  async discard(): Promise<void> {
    await this.media.files.deleteFolder(this.folder);
  }
}
