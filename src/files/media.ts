/** Files to which rows refer: stores them under unique paths, creates thumbnails, and deletes both. Only valid paths are accessible. */
import { randomInt } from 'node:crypto';
import { constants, copyFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { Config } from '../platform/config';
import type { UploadedFile } from '../platform/multipart';
import { BucketStore } from './bucketstore';
import type { FileStore } from './filestore';
import { FolderStore } from './folderstore';
import { formatOfContent, formatOfExtension } from './formats';
import {
  extensionOf,
  imageAndThumbnailPaths,
  buildTruncatedPath,
  isMediaPath,
  looksLikeThumbnail,
  parseThumbnailPath,
  thumbnailPath,
  THUMBNAIL_SPECS,
} from './paths';
import { OverloadedError } from '../platform/limiter';
import { imageWorkerPool } from './imageworkerpool';
import { hasTransparency } from './imageprocessing';
import { causeOfUploadFailure, storedNameParts, validateImage, validateUploads } from './upload';

const SUFFIX_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 7;
const MAX_PATH_ATTEMPTS = 100;
const MAX_CACHED_THUMBNAILS = 10_000;

const randomSuffix = () =>
  `_${Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_CHARACTERS[randomInt(SUFFIX_CHARACTERS.length)]).join('')}`;
const isGif = (path: string, bytes: Buffer): boolean =>
  [formatOfExtension(extensionOf(path)), formatOfContent(bytes)].includes('gif');

/** Whether thumbnails must be PNG: for images with transparency, and for GIFs (by name or content). */
const needsPngThumbnails = async (path: string, bytes: Buffer): Promise<boolean> =>
  isGif(path, bytes) || hasTransparency(bytes);

/** How long a thumbnail in a remote store is assumed to exist without another check. */
const EXISTENCE_CACHE_TTL_MS = 60_000;

export class Media {
  private readonly pendingThumbnails = new Map<string, Promise<boolean>>();
  private readonly hasPngThumbnailsCache = new LRUCache<string, boolean>({
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

  /** Opens the file store. Throws a ConfigError if the operator has configured one that cannot be used. */
  static async openAndCheck(
    config: Pick<Config, 'bucket' | 'mediaDir' | 'ownMediaDir' | 'uploadQuota'>,
  ): Promise<Media> {
    const media = Media.fromConfig(config);
    if (config.bucket || config.ownMediaDir) await media.files.checkAccess();
    return media;
  }

  validateUploads(body: unknown): Promise<void> {
    return validateUploads(body);
  }

  async exists(path: string): Promise<boolean> {
    return isMediaPath(path) && (await this.files.versionOf(path)) !== undefined;
  }

  /**
   * Stores a valid uploaded image and returns its path, of at most `maxLength` characters. If another file has or had this path (`isPathTaken`), a random
   * suffix is added: paths are never reused, so that browsers can cache them.
   */
  async store(
    folder: string,
    file: UploadedFile,
    maxLength: number,
    isPathTaken: (path: string) => Promise<boolean>,
  ): Promise<string> {
    const problems = await validateImage(file);
    if (problems.length) throw new Error(problems.join(' '));
    const name = storedNameParts(file.filename);
    const plainPath = buildTruncatedPath(folder, name, '', maxLength);
    // A truncated name gets a suffix too, so that it cannot be mistaken for another name.
    let suffix =
      plainPath === `${folder}/${name.stem}${name.dottedExtension}` &&
      !looksLikeThumbnail(plainPath)
        ? ''
        : randomSuffix();
    for (let attempt = 0; attempt < MAX_PATH_ATTEMPTS; attempt += 1) {
      const path = buildTruncatedPath(folder, name, suffix, maxLength);
      // Checks the path again after its reservation, because another file at this path may have been deleted in the meantime.
      if (!(await isPathTaken(path)) && (await this.files.reserve(path))) {
        let isStored = false;
        try {
          if (!(await isPathTaken(path))) {
            await this.files.write(path, (localPath) =>
              copyFile(file.path, localPath, constants.COPYFILE_EXCL).catch((error: unknown) => {
                throw causeOfUploadFailure(file.path, error);
              }),
            );
            isStored = true;
            return path;
          }
        } finally {
          if (!isStored) await this.remove([path]);
        }
      }
      suffix = randomSuffix();
    }
    throw new Error(`no unused file name in ${folder}`);
  }

  /** Deletes files with their thumbnails; missing files are ignored. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (!isMediaPath(path)) continue;
      const [image, ...thumbnailPaths] = imageAndThumbnailPaths(path);
      await this.files.deleteFiles(image!, thumbnailPaths);
    }
  }

  /** Creates all thumbnails of an image. Returns whether they are PNG. Ignores errors: the server may be busy, or the file missing. */
  async createThumbnails(path: string): Promise<boolean> {
    const isPng = await this.hasPngThumbnails(path);
    await Promise.all(
      [...THUMBNAIL_SPECS.keys()].map((alias) =>
        this.createThumbnail(path, alias, isPng).catch(() => false),
      ),
    );
    return isPng;
  }

  /** Returns whether the thumbnails of an image are PNG. The result is cached by path and version of the file. */
  async hasPngThumbnails(path: string): Promise<boolean> {
    const version = isMediaPath(path) ? await this.files.versionOf(path) : undefined;
    if (!version) return false;
    const cacheKey = `${path} ${version.version}`;
    const cachedResult = this.hasPngThumbnailsCache.get(cacheKey);
    if (cachedResult !== undefined) return cachedResult;
    const bytes = await this.files.read(path);
    const isPng = bytes !== undefined && (await needsPngThumbnails(path, bytes).catch(() => false));
    this.hasPngThumbnailsCache.set(cacheKey, isPng);
    return isPng;
  }

  /** Creates a thumbnail unless it exists. Returns false if the image is missing or unreadable. Throws OverloadedError if the workers are busy. */
  async createThumbnail(imagePath: string, alias: string, isPng: boolean): Promise<boolean> {
    const path = thumbnailPath(imagePath, alias, isPng);
    // Concurrent calls for the same thumbnail share one promise, so that it is created once.
    let creation = this.pendingThumbnails.get(path);
    if (!creation) {
      creation = this.createThumbnailIfMissing(imagePath, alias, isPng, path).finally(() =>
        this.pendingThumbnails.delete(path),
      );
      this.pendingThumbnails.set(path, creation);
    }
    return creation.catch((error) => {
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

  /** Whether the file is a thumbnail of another one. Thumbnails of thumbnails, nested without end, would let anyone fill the file store. */
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
    if ((await this.isThumbnail(imagePath)) || (isPng && !(await this.hasPngThumbnails(imagePath))))
      return false;
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
    // Deletes the new thumbnail if the image was deleted in the meantime, because that deletion came too early to include this thumbnail.
    if (await this.exists(imagePath)) return true;
    await this.files.deleteFiles(path, []);
    return false;
  }
}
