/** The files of rows: their names, their thumbnails, and that nothing else is let out of where they are kept. */
import { randomInt } from 'node:crypto';
import { constants, copyFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { Config } from '../platform/config';
import type { UploadedFile } from '../platform/multipart';
import { BucketStore } from './bucketstore';
import type { FileStore } from './filestore';
import { FolderStore } from './folderstore';
import { formatOfContent, formatOfExtension } from './formats';
import { extensionOf, filesOf, fittedPath, isPath, looksLikeThumbnail, thumbnailName, THUMBNAILS } from './paths';
import { Overloaded } from '../platform/limiter';
import { imageProcesses } from './imageprocesses';
import { hasTransparency } from './picture';
import { examine, storedName } from './upload';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 7;
const MAX_ATTEMPTS = 100;
const MAX_KNOWN = 10_000;

const randomSuffix = () => `_${Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
const isGif = (path: string, bytes: Buffer): boolean => [formatOfExtension(extensionOf(path)), formatOfContent(bytes)].includes('gif');

/** JPEG has no transparency, and a GIF counts as having some, whether the name or the content makes it one. */
const becomesPng = async (path: string, bytes: Buffer): Promise<boolean> => isGif(path, bytes) || hasTransparency(bytes);

/** So long a thumbnail that is far away is taken to be there still. */
const MADE_MS = 60_000;

export class Media {
  private readonly making = new Map<string, Promise<boolean>>();
  private readonly transparent = new LRUCache<string, boolean>({ max: MAX_KNOWN });
  private readonly made = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: MADE_MS });

  constructor(
    readonly files: FileStore,
    readonly quota = Infinity,
  ) {}

  static of({ bucket, mediaDir, uploadQuota }: Pick<Config, 'bucket' | 'mediaDir' | 'uploadQuota'>): Media {
    return new Media(bucket ? new BucketStore(bucket) : new FolderStore(mediaDir), uploadQuota);
  }

  async holds(path: string): Promise<boolean> {
    return isPath(path) && (await this.files.facts(path)) !== undefined;
  }

  /**
   * Keeps an uploaded image that has passed `examine`, and answers its path, of at most `max` characters. A name that is taken gets a
   * suffix, and so does one that `wasTaken`: nothing is ever overwritten, and what a browser has kept of a path is what is there.
   */
  async store(folder: string, file: UploadedFile, max: number, wasTaken: (path: string) => Promise<boolean>): Promise<string> {
    const problems = await examine(file);
    if (problems.length) throw new Error(problems.join(' '));
    const name = storedName(file.filename);
    const plain = fittedPath(folder, name, '', max);
    // A name that had to be cut gets a suffix too, so that what is left of it cannot be mistaken for another's name.
    let suffix = plain === `${folder}/${name.root}${name.ending}` && !looksLikeThumbnail(plain) ? '' : randomSuffix();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const path = fittedPath(folder, name, suffix, max);
      // Asked once more when the name is reserved: until then somebody's file may go.
      if (!(await wasTaken(path)) && (await this.files.reserve(path))) {
        let stored = false;
        try {
          if (!(await wasTaken(path))) {
            await this.files.write(path, (place) => copyFile(file.path, place, constants.COPYFILE_EXCL));
            stored = true;
            return path;
          }
        } finally {
          if (!stored) await this.remove([path]);
        }
      }
      suffix = randomSuffix();
    }
    throw new Error(`no free name in ${folder}`);
  }

  /** Removes files with their thumbnails; what is not there need not be removed. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (!isPath(path)) continue;
      const [image, ...others] = filesOf(path);
      await this.files.remove(image!, others);
    }
  }

  /** Whether its thumbnails are PNG; all of them are there afterwards, unless the server is busy. Those of an image whose file is lost are not. */
  async thumbnails(path: string): Promise<boolean> {
    const png = await this.hasPngThumbnails(path);
    await Promise.all([...THUMBNAILS.keys()].map((alias) => this.thumbnail(path, alias, png).catch(() => false)));
    return png;
  }

  /** As `thumbnails` answers. Each file is looked into once; another one in its place has another version. */
  async hasPngThumbnails(path: string): Promise<boolean> {
    const facts = isPath(path) ? await this.files.facts(path) : undefined;
    if (!facts) return false;
    const key = `${path} ${facts.version}`;
    const known = this.transparent.get(key);
    if (known !== undefined) return known;
    const bytes = await this.files.read(path);
    const found = bytes !== undefined && (await becomesPng(path, bytes).catch(() => false));
    this.transparent.set(key, found);
    return found;
  }

  /** Makes a thumbnail unless it is there, once however many ask at the same time; false where there is nothing to make it of. Throws Overloaded. */
  async thumbnail(image: string, alias: string, png: boolean): Promise<boolean> {
    const path = thumbnailName(image, alias, png);
    let making = this.making.get(path);
    if (!making) {
      making = this.make(image, alias, png, path).finally(() => this.making.delete(path));
      this.making.set(path, making);
    }
    return making.catch((error) => {
      if (error instanceof Overloaded) throw error;
      return false;
    });
  }

  private async make(image: string, alias: string, png: boolean, path: string): Promise<boolean> {
    if (!isPath(path)) return false;
    if (this.files.isFar && this.made.has(path)) return true;
    if ((await this.holds(path)) || (await this.shrink(image, alias, png, path))) {
      this.made.set(path, true);
      return true;
    }
    return false;
  }

  private async shrink(image: string, alias: string, png: boolean, path: string): Promise<boolean> {
    if (png && !(await this.hasPngThumbnails(image))) return false;
    const write = (from: string) =>
      this.files.write(path, (place) => imageProcesses.shrink(image, from, place, THUMBNAILS.get(alias)!, png)).then(() => true);
    if (!(await this.files.lend(image, write))) return false;
    // The image may have gone meanwhile, and its thumbnails with it, but for this one.
    if (await this.holds(image)) return true;
    await this.remove([image]);
    return false;
  }
}
