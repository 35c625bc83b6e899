/** Files in a folder of this machine, or of a network file system. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import express, { type RequestHandler, type Response } from 'express';
import { ConfigError } from '../platform/config';
import { KEPT_SECONDS, PRIVATE_FILE, PRIVATE_FOLDER, type FileFacts, type FileStore } from './filestore';

const isCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '');

export class FolderStore implements FileStore {
  readonly isFar = false;

  constructor(readonly root: string) {}

  get name(): string {
    return this.root;
  }

  /** A share that is not mounted must not look like an empty one. */
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

  private at(path: string): string {
    const place = join(this.root, path);
    if (!place.startsWith(this.root + sep)) throw new Error(`${path} is no path of the media folder`);
    return place;
  }

  /** The folder itself may be a link. */
  async facts(path: string): Promise<FileFacts | undefined> {
    const place = this.at(path);
    const [found, root] = await Promise.all([realpath(place), realpath(this.root)]).catch(() => ['', this.root]);
    if (!found.startsWith(root + sep)) return undefined;
    const file = await stat(place).catch(() => undefined);
    return file?.isFile() ? { size: file.size, version: `${file.ino} ${file.size} ${file.mtimeMs}` } : undefined;
  }

  async read(path: string): Promise<Buffer | undefined> {
    if (!(await this.facts(path))) return undefined;
    return readFile(this.at(path)).catch((error) => {
      if (isCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG')) return undefined;
      throw error;
    });
  }

  async stream(path: string) {
    // Opened first: another file may take its name meanwhile.
    const handle = await open(this.at(path), 'r').catch(() => undefined);
    if (!handle) return undefined;
    const { size } = await handle.stat();
    return { size, content: handle.createReadStream() };
  }

  async lend<T>(path: string, work: (place: string) => Promise<T>): Promise<T | undefined> {
    return (await this.facts(path)) && work(this.at(path));
  }

  /** By an empty file that only this call can have made. */
  async reserve(path: string): Promise<boolean> {
    const place = this.at(path);
    await mkdir(dirname(place), PRIVATE_FOLDER);
    try {
      await (await open(place, 'wx', PRIVATE_FILE)).close();
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  async write(path: string, put: (place: string) => Promise<void>): Promise<void> {
    const place = this.at(path);
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

  async move(from: string, to: string): Promise<void> {
    await mkdir(dirname(this.at(to)), PRIVATE_FOLDER);
    await rename(this.at(from), this.at(to));
  }

  async remove(path: string, others: readonly string[]): Promise<void> {
    for (const one of [path, ...others]) await rm(this.at(one), { force: true });
  }

  async list(folder: string): Promise<string[]> {
    const root = this.at(folder);
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isFile()).map((entry) => relative(root, join(entry.parentPath, entry.name)));
  }

  async folders(beginning: string): Promise<string[]> {
    return (await readdir(this.root).catch(() => [])).filter((name) => name.startsWith(beginning));
  }

  async discard(folder: string): Promise<void> {
    await rm(this.at(folder), { recursive: true, force: true });
  }

  serve(describe: (response: Response, path: string) => void): RequestHandler {
    return express.static(this.root, { index: false, redirect: false, immutable: true, maxAge: KEPT_SECONDS * 1000, setHeaders: describe });
  }
}
