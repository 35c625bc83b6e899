/**
 * Files to which rows refer: stores them under unique paths, creates thumbnails, and deletes both.
 * Only valid paths are accessible.
 */
import { randomInt } from 'node:crypto';
import { constants, copyFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { Config } from '../shared/config';
import type { UploadedFile } from '../shared/multipart';
import { BucketStore } from './bucket-store';
import type { FileStore } from './file-store';
import { FolderStore } from './folder-store';
import { formatOfContent, formatOfExtension } from './formats';
import {
  extensionOf,
  imageAndThumbnailPaths,
  truncatedPath,
  isMediaPath,
  isThumbnailPath,
  parseThumbnailPath,
  thumbnailPath,
  THUMBNAIL_SPECS,
} from './paths';
import { OverloadedError } from '../shared/limiter';
import { imageWorkerPool } from './image-worker-pool';
import { hasTransparency } from './image-processing';
import { toUploadError, storedFileName, validateImage, validateUploads } from './upload';

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 7;
const MAX_PATH_ATTEMPTS = 100;
const MAX_CACHED_THUMBNAILS = 10_000;

const randomSuffix = () =>
  `_${Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_CHARACTERS[randomInt(SUFFIX_CHARACTERS.length)]).join('')}`;
const isGif = (path: string, bytes: Buffer): boolean =>
  [formatOfExtension(extensionOf(path)), formatOfContent(bytes)].includes('gif');

/**
 * Whether the thumbnails of an image must be PNG: for images with transparency, and for GIFs by
 * name or content.
 */
const mustBePng = async (path: string, bytes: Buffer): Promise<boolean> =>
  isGif(path, bytes) || hasTransparency(bytes);

/** How long a thumbnail in a remote store is assumed to exist without another check. */
const EXISTENCE_CACHE_TTL_MS = 60_000;

export class Media {
  private readonly pendingThumbnails = new Map<string, Promise<boolean>>();
  private readonly isPngByVersion = new LRUCache<string, boolean>({
    max: MAX_CACHED_THUMBNAILS,
  });
  private readonly existingThumbnailPaths = new LRUCache<string, true>({
    max: MAX_CACHED_THUMBNAILS,
    ttl: EXISTENCE_CACHE_TTL_MS,
  });

  constructor(
    readonly files: FileStore,
    readonly quotaBytes = Infinity,
  ) {}

  static fromConfig({
    bucket,
    mediaDir,
    uploadQuota,
  }: Pick<Config, 'bucket' | 'mediaDir' | 'uploadQuota'>): Media {
    return new Media(bucket ? new BucketStore(bucket) : new FolderStore(mediaDir), uploadQuota);
  }

  /**
   * Opens the file store. Throws a ConfigError if the operator has configured one that cannot be
   * used.
   */
  static async openAndCheck(
    config: Pick<Config, 'bucket' | 'mediaDir' | 'isMediaDirSet' | 'uploadQuota'>,
  ): Promise<Media> {
    const media = Media.fromConfig(config);

    if (config.bucket || config.isMediaDirSet) await media.files.checkAccess();

    return media;
  }

  validateUploads(body: unknown): Promise<void> {
    return validateUploads(body);
  }

  async exists(path: string): Promise<boolean> {
    return isMediaPath(path) && (await this.files.stat(path)) !== undefined;
  }

  /**
   * Stores a valid uploaded image and returns its path, of at most `maxLength` characters. A path
   * that another file has or had gets a random suffix: paths are never reused, so that browsers can
   * cache them.
   */
  async store(
    folder: string,
    file: UploadedFile,
    maxLength: number,
    isPathTaken: (path: string) => Promise<boolean>,
  ): Promise<string> {
    const problems = await validateImage(file);

    if (problems.length) throw new Error(problems.join(' '));
    const name = storedFileName(file.filename);
    const pathWithoutSuffix = truncatedPath(folder, name, '', maxLength);
    // A truncated name gets a suffix too, so that it cannot be mistaken for another name.
    const isTruncated = pathWithoutSuffix !== `${folder}/${name.stem}${name.dottedExtension}`;
    let suffix = isTruncated || isThumbnailPath(pathWithoutSuffix) ? randomSuffix() : '';

    for (let attempt = 0; attempt < MAX_PATH_ATTEMPTS; attempt += 1) {
      const path = truncatedPath(folder, name, suffix, maxLength);

      if (await this.tryStoreAt(path, file, isPathTaken)) return path;
      suffix = randomSuffix();
    }

    throw new Error(`no unused file name in ${folder}`);
  }

  /** Stores a file at a path, unless the path is taken. */
  private async tryStoreAt(
    path: string,
    file: UploadedFile,
    isPathTaken: (path: string) => Promise<boolean>,
  ): Promise<boolean> {
    if ((await isPathTaken(path)) || !(await this.files.reserve(path))) return false;
    let isStored = false;

    try {
      // Checks the path again after its reservation, because a file at this path may have been
      // deleted between the first check and the reservation.
      if (await isPathTaken(path)) return false;
      await this.files.write(path, (localPath) =>
        copyFile(file.path, localPath, constants.COPYFILE_EXCL).catch((error: unknown) => {
          throw toUploadError(file.path, error);
        }),
      );
      isStored = true;
      return true;
    } finally {
      if (!isStored) await this.remove([path]);
    }
  }

  /** Deletes files with their thumbnails. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (!isMediaPath(path)) continue;
      const [image, ...thumbnailPaths] = imageAndThumbnailPaths(path);

      await this.files.deleteFiles(image!, thumbnailPaths);
    }
  }

  /**
   * Creates all thumbnails of an image, as far as possible: the server may be busy, or the file
   * missing. Returns whether they are PNG.
   */
  async createThumbnails(path: string): Promise<boolean> {
    const isPng = await this.hasPngThumbnails(path);

    await Promise.all(
      [...THUMBNAIL_SPECS.keys()].map((alias) =>
        this.createThumbnail(path, alias, isPng).catch(() => false),
      ),
    );

    return isPng;
  }

  /** Whether the thumbnails of an image are PNG. Cached by path and version of the file. */
  async hasPngThumbnails(path: string): Promise<boolean> {
    const fileVersion = isMediaPath(path) ? await this.files.stat(path) : undefined;

    if (!fileVersion) return false;
    const cacheKey = `${path} ${fileVersion.version}`;
    const cachedResult = this.isPngByVersion.get(cacheKey);

    if (cachedResult !== undefined) return cachedResult;
    const bytes = await this.files.read(path);
    const isPng = bytes !== undefined && (await mustBePng(path, bytes).catch(() => false));

    this.isPngByVersion.set(cacheKey, isPng);
    return isPng;
  }

  /**
   * Creates a thumbnail unless it exists. Returns false if the image is missing or unreadable.
   * Throws OverloadedError if the workers are busy.
   */
  async createThumbnail(imagePath: string, alias: string, isPng: boolean): Promise<boolean> {
    const path = thumbnailPath(imagePath, alias, isPng);
    // Concurrent calls for the same thumbnail share one promise, so that it is created once.
    let pendingThumbnail = this.pendingThumbnails.get(path);

    if (!pendingThumbnail) {
      pendingThumbnail = this.createThumbnailIfMissing(imagePath, alias, isPng, path).finally(() =>
        this.pendingThumbnails.delete(path),
      );
      this.pendingThumbnails.set(path, pendingThumbnail);
    }

    return pendingThumbnail.catch((error) => {
      if (error instanceof OverloadedError) throw error;

      return false;
    });
  }

  private async createThumbnailIfMissing(
    imagePath: string,
    alias: string,
    isPng: boolean,
    path: string,
  ): Promise<boolean> {
    if (!isMediaPath(path)) return false;
    if (this.files.isRemote && this.existingThumbnailPaths.has(path)) return true;

    if ((await this.exists(path)) || (await this.writeThumbnail(imagePath, alias, isPng, path))) {
      this.existingThumbnailPaths.set(path, true);
      return true;
    }

    return false;
  }

  /**
   * Whether a path belongs to a thumbnail. Thumbnails of thumbnails would let anyone fill the file
   * store.
   */
  private async isThumbnail(path: string): Promise<boolean> {
    const originalPath = parseThumbnailPath(path)?.imagePath;

    return originalPath !== undefined && this.exists(originalPath);
  }

  private async writeThumbnail(
    imagePath: string,
    alias: string,
    isPng: boolean,
    path: string,
  ): Promise<boolean> {
    if (
      (await this.isThumbnail(imagePath)) ||
      (isPng && !(await this.hasPngThumbnails(imagePath)))
    ) {
      return false;
    }

    const write = (sourcePath: string) =>
      this.files
        .write(path, (localPath) =>
          imageWorkerPool.writeThumbnail(
            imagePath,
            sourcePath,
            localPath,
            THUMBNAIL_SPECS.get(alias)!,
            isPng,
          ),
        )
        .then(() => true);

    if (!(await this.files.withLocalFile(imagePath, write))) return false;
    // Deletes the thumbnail if the image was deleted in the meantime, because that deletion came
    // too early to include it.
    if (await this.exists(imagePath)) return true;
    await this.files.deleteFiles(path, []);
    return false;
  }
}
