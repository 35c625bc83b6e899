/** The media folder: the one place that knows where the files of rows are, and lets nothing out of it. */
import { randomBytes, randomInt } from 'node:crypto';
import { chmod, constants, copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import { ConfigError } from '../platform/config';
import type { UploadedFile } from '../platform/multipart';
import { formatOfContent, formatOfExtension } from './formats';
import { cleanName, extensionOf, filesOf, fittedPath, looksLikeThumbnail, thumbnailName, THUMBNAILS } from './names';
import { TooBusy } from '../platform/turns';
import { imageProcesses } from './imageprocesses';
import { hasTransparency } from './picture';
import { examine } from './upload';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SUFFIX_LENGTH = 7;
const MAX_ATTEMPTS = 100;
const MAX_KNOWN = 10_000;

const randomSuffix = () => `_${Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
/** Files are for those to whom the server gives them, not for other users of its machine. A copy of an upload is as private as the upload. */
export const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;
export const PRIVATE_FILE = 0o600;

const isCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '');

const isGif = (path: string, bytes: Buffer): boolean => [formatOfExtension(extensionOf(path)), formatOfContent(bytes)].includes('gif');

/** JPEG has no transparency, and a GIF counts as having some, whether the name or the content makes it one. */
const becomesPng = async (path: string, bytes: Buffer): Promise<boolean> => isGif(path, bytes) || hasTransparency(bytes);

export class MediaFolder {
  private readonly making = new Map<string, Promise<boolean>>();
  private readonly transparent = new LRUCache<string, boolean>({ max: MAX_KNOWN });

  constructor(
    readonly root: string,
    readonly quota = Infinity,
  ) {}

  /** Throws a ConfigError unless it is there and can be written to. A share that is not mounted must not look like an empty one. */
  async check(): Promise<void> {
    const wrong = (why: string) => new ConfigError(`MEDIA_DIR must be a folder that is there and can be written to: ${this.root} ${why}`);
    const found = await stat(this.root).catch(({ code }: NodeJS.ErrnoException) => {
      throw wrong(`cannot be looked at (${code})`);
    });
    if (!found.isDirectory()) throw wrong('is none');
    const trial = join(this.root, `.${randomBytes(8).toString('hex')}`);
    await (
      await open(trial, 'wx', PRIVATE_FILE).catch(({ code }: NodeJS.ErrnoException) => {
        throw wrong(`cannot be written to (${code})`);
      })
    ).close();
    await rm(trial, { force: true });
  }

  /** Closes a folder that an older version made to other users of the machine; one that belongs to somebody else is theirs to close. */
  async close(): Promise<void> {
    await chmod(this.root, PRIVATE_FOLDER.mode).catch((error) => {
      if (!isCode(error, 'ENOENT', 'EPERM', 'EROFS')) throw error;
    });
  }

  /** The absolute place of a path below the folder; undefined for one that leads out of it or into a hidden part of it. */
  place(path: string): string | undefined {
    if (path.includes('\0') || path.split(/[/\\]/).some((part) => part === '' || part.startsWith('.'))) return undefined;
    const place = join(this.root, path);
    return place.startsWith(this.root + sep) ? place : undefined;
  }

  /** Whether there is something at this path that is in the folder, not only linked from it. The folder itself may be a link. */
  async holds(path: string): Promise<boolean> {
    const place = this.place(path);
    if (!place) return false;
    const [found, root] = await Promise.all([realpath(place), realpath(this.root)]).catch(() => ['', this.root]);
    return found.startsWith(root + sep);
  }

  /**
   * Keeps an uploaded image that has passed `examine`, and answers its path, of at most `max` characters. A name that is taken gets a
   * suffix, and so does one that `wasTaken`: nothing is ever overwritten, and what a browser has kept of a path is what is there.
   */
  async store(folder: string, file: UploadedFile, max: number, wasTaken: (path: string) => Promise<boolean>): Promise<string> {
    const problems = await examine(file);
    if (problems.length) throw new Error(problems.join(' '));
    const name = cleanName(file.filename);
    const plain = fittedPath(folder, name, '', max);
    // A name that had to be cut gets a suffix too, so that what is left of it cannot be mistaken for another's name.
    let suffix = plain === `${folder}/${name.root}${name.ending}` && !looksLikeThumbnail(plain) ? '' : randomSuffix();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const path = fittedPath(folder, name, suffix, max);
      // Asked once the name is reserved: until then somebody's file may come and go.
      if (await this.reserve(path)) {
        let stored = false;
        try {
          if (!(await wasTaken(path))) {
            await this.write(path, (place) => copyFile(file.path, place, constants.COPYFILE_EXCL));
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
    for (const path of paths.flatMap(filesOf)) {
      const place = this.place(path);
      if (place) await rm(place, { force: true });
    }
  }

  /** Whether its thumbnails are PNG; all of them are there afterwards, unless the server is busy. Those of an image whose file is lost are not. */
  async thumbnails(path: string): Promise<boolean> {
    const bytes = await this.read(path);
    const png = bytes !== undefined && (await becomesPng(path, bytes).catch(() => false));
    if (bytes) await Promise.all([...THUMBNAILS.keys()].map((alias) => this.thumbnail(path, alias, png).catch(() => false)));
    return png;
  }

  /** As `thumbnails` answers. Each file is looked into once; another one in its place has another time or size. */
  async hasPngThumbnails(path: string): Promise<boolean> {
    const place = this.place(path);
    const file = place === undefined ? undefined : await stat(place).catch(() => undefined);
    if (!file) return false;
    const key = `${path} ${file.ino} ${file.size} ${file.mtimeMs}`;
    const known = this.transparent.get(key);
    if (known !== undefined) return known;
    const bytes = await this.read(path);
    const found = bytes !== undefined && (await becomesPng(path, bytes).catch(() => false));
    this.transparent.set(key, found);
    return found;
  }

  /** Makes a thumbnail unless it is there, once however many ask at the same time; false where there is nothing to make it of. Throws TooBusy. */
  async thumbnail(image: string, alias: string, png: boolean): Promise<boolean> {
    const path = thumbnailName(image, alias, png);
    let making = this.making.get(path);
    if (!making) {
      making = this.make(image, alias, png, path).finally(() => this.making.delete(path));
      this.making.set(path, making);
    }
    return making.catch((error) => {
      if (error instanceof TooBusy) throw error;
      return false;
    });
  }

  private async make(image: string, alias: string, png: boolean, path: string): Promise<boolean> {
    if (await this.has(path)) return true;
    const bytes = await this.read(image);
    if (!bytes || (png && !(await becomesPng(image, bytes)))) return false;
    await this.write(path, (place) => imageProcesses.shrink(image, this.placeOf(image), place, THUMBNAILS.get(alias)!, png));
    // The image may have gone meanwhile, and its thumbnails with it, but for this one.
    if (await this.has(image)) return true;
    await this.remove([image]);
    return false;
  }

  private async has(path: string): Promise<boolean> {
    const place = this.place(path);
    return (
      place !== undefined &&
      stat(place).then(
        (found) => found.isFile(),
        () => false,
      )
    );
  }

  private async read(path: string): Promise<Buffer | undefined> {
    if (!(await this.holds(path))) return undefined;
    return readFile(this.placeOf(path)).catch((error) => {
      if (isCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG')) return undefined;
      throw error;
    });
  }

  /** Takes a name by an empty file that only this call can have made. */
  private async reserve(path: string): Promise<boolean> {
    const place = this.placeOf(path);
    await mkdir(dirname(place), PRIVATE_FOLDER);
    try {
      await (await open(place, 'wx', PRIVATE_FILE)).close();
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  /** Whoever reads the path sees the whole file or none of it. */
  private async write(path: string, put: (place: string) => Promise<void>): Promise<void> {
    const place = this.placeOf(path);
    await mkdir(dirname(place), PRIVATE_FOLDER);
    const temporary = join(dirname(place), `.${randomBytes(8).toString('hex')}`);
    try {
      await put(temporary);
      await rename(temporary, place);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  private placeOf(path: string): string {
    const place = this.place(path);
    if (!place) throw new Error(`${path} is no path of the media folder`);
    return place;
  }
}
