/** File store in a local folder or on a network file system. */
import { randomBytes } from 'node:crypto';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import express, { type RequestHandler, type Response } from 'express';
import { ConfigError } from '../shared/config';
import {
  CACHE_MAX_AGE_SECONDS,
  PRIVATE_FILE_MODE,
  PRIVATE_FOLDER_OPTIONS,
  type FileVersion,
  type FileStore,
} from './file-store';

const NO_FILE_ERROR_CODES = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG'];
const hasErrorCode = (error: unknown, ...codes: string[]) =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

export class FolderStore implements FileStore {
  readonly isRemote = false;

  constructor(readonly root: string) {}

  get location(): string {
    return this.root;
  }

  /**
   * Checks that the folder is writable. Does not create it, because an unmounted network share must
   * not be mistaken for an empty store.
   */
  async checkAccess(): Promise<void> {
    const configError = (problem: string) =>
      new ConfigError(`MEDIA_DIR must be an existing, writable folder: ${this.root} ${problem}`);
    const rootStats = await stat(this.root).catch(({ code }: NodeJS.ErrnoException) => {
      throw configError(`cannot be accessed (${code})`);
    });

    if (!rootStats.isDirectory()) throw configError('is not a folder');
    const probePath = join(this.root, `.${randomBytes(8).toString('hex')}`);

    await (
      await open(probePath, 'wx', PRIVATE_FILE_MODE).catch(({ code }: NodeJS.ErrnoException) => {
        throw configError(`cannot be written to (${code})`);
      })
    ).close();
    await rm(probePath, { force: true });
  }

  /**
   * Removes the permissions of other users from a folder that an older version created. A folder of
   * another owner is not changed.
   */
  async restrictPermissions(): Promise<void> {
    await chmod(this.root, PRIVATE_FOLDER_OPTIONS.mode).catch((error) => {
      if (!hasErrorCode(error, 'ENOENT', 'EPERM', 'EROFS')) throw error;
    });
  }

  private resolvePath(path: string): string {
    const filePath = join(this.root, path);

    if (!filePath.startsWith(this.root + sep)) {
      throw new Error(`${path} is not a path in the media folder`);
    }

    return filePath;
  }

  /**
   * Reads the size and version of a file. Ignores symbolic links that lead out of the folder, which
   * may itself be a link.
   */
  async stat(path: string): Promise<FileVersion | undefined> {
    const filePath = this.resolvePath(path);
    const [realPath, realRoot] = await Promise.all([realpath(filePath), realpath(this.root)]).catch(
      () => ['', this.root],
    );

    if (!realPath.startsWith(realRoot + sep)) return undefined;
    const file = await stat(filePath).catch(() => undefined);

    if (!file?.isFile()) return undefined;

    return { size: file.size, version: `${file.ino} ${file.size} ${file.mtimeMs}` };
  }

  async read(path: string): Promise<Buffer | undefined> {
    if (!(await this.stat(path))) return undefined;

    return readFile(this.resolvePath(path)).catch((error) => {
      if (hasErrorCode(error, ...NO_FILE_ERROR_CODES)) return undefined;
      throw error;
    });
  }

  async openStream(path: string) {
    // Opens the file before reading its size, because another file may replace it in the meantime.
    const handle = await open(this.resolvePath(path), 'r').catch((error) => {
      if (hasErrorCode(error, ...NO_FILE_ERROR_CODES)) return undefined;
      throw error;
    });

    if (!handle) return undefined;
    const { size } = await handle.stat();

    return { size, content: handle.createReadStream() };
  }

  async withLocalFile<T>(
    path: string,
    callback: (filePath: string) => Promise<T>,
  ): Promise<T | undefined> {
    return (await this.stat(path)) && callback(this.resolvePath(path));
  }

  /** Reserves a path by creating an empty file exclusively, so that only one caller succeeds. */
  async reserve(path: string): Promise<boolean> {
    const filePath = this.resolvePath(path);

    await mkdir(dirname(filePath), PRIVATE_FOLDER_OPTIONS);

    try {
      await (await open(filePath, 'wx', PRIVATE_FILE_MODE)).close();
      return true;
    } catch (error) {
      if (hasErrorCode(error, 'EEXIST')) return false;
      throw error;
    }
  }

  async write(path: string, createFile: (filePath: string) => Promise<void>): Promise<void> {
    const filePath = this.resolvePath(path);

    await mkdir(dirname(filePath), PRIVATE_FOLDER_OPTIONS);
    const temporaryPath = join(dirname(filePath), `.${randomBytes(8).toString('hex')}`);

    try {
      await createFile(temporaryPath);
      await rename(temporaryPath, filePath);
    } catch (error) {
      await rm(temporaryPath, { force: true });
      throw error;
    }
  }

  async move(from: string, to: string): Promise<void> {
    await mkdir(dirname(this.resolvePath(to)), PRIVATE_FOLDER_OPTIONS);
    await rename(this.resolvePath(from), this.resolvePath(to));
  }

  async deleteFiles(path: string, otherPaths: readonly string[]): Promise<void> {
    for (const filePath of [path, ...otherPaths]) {
      await rm(this.resolvePath(filePath), { force: true }).catch((error) => {
        if (!hasErrorCode(error, ...NO_FILE_ERROR_CODES)) throw error;
      });
    }
  }

  async listFiles(folder: string): Promise<string[]> {
    const folderPath = this.resolvePath(folder);
    const entries = await readdir(folderPath, { recursive: true, withFileTypes: true }).catch(
      (error) => {
        if (hasErrorCode(error, 'ENOENT')) return [];
        throw error;
      },
    );

    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folderPath, join(entry.parentPath, entry.name)));
  }

  async listFolders(prefix: string): Promise<string[]> {
    const names = await readdir(this.root).catch((error): string[] => {
      if (hasErrorCode(error, 'ENOENT')) return [];
      throw error;
    });

    return names.filter((name) => name.startsWith(prefix));
  }

  async deleteFolder(folder: string): Promise<void> {
    await rm(this.resolvePath(folder), { recursive: true, force: true });
  }

  createRequestHandler(setHeaders: (response: Response, path: string) => void): RequestHandler {
    return express.static(this.root, {
      index: false,
      redirect: false,
      immutable: true,
      maxAge: CACHE_MAX_AGE_SECONDS * 1000,
      setHeaders,
    });
  }
}
