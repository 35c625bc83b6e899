/**
 * File store for uploads: a folder or an S3 bucket. Paths are relative to it, in the form in which rows contain them. Names that begin with a dot are
 * hidden and never served.
 */
import type { Readable } from 'node:stream';
import type { RequestHandler, Response } from 'express';

/** Size and version of a file. A different file at the same path has a different version. */
export interface FileVersion {
  size: number;
  /** Version of the file, which changes whenever the file is replaced; part of the cache keys of thumbnails. */
  version: string;
}

export interface FileStore {
  /** Location of the store, for messages to operators. */
  readonly location: string;
  /** Whether checking that a file exists takes a network round trip. */
  readonly isRemote: boolean;
  /** Throws a ConfigError unless the store exists and is writable. */
  checkAccess(): Promise<void>;
  /** Returns size and version of a file; undefined if there is none, or only a symbolic link to a file outside of the store. */
  versionOf(path: string): Promise<FileVersion | undefined>;
  read(path: string): Promise<Buffer | undefined>;
  /** Opens a file. The caller must read the stream to its end. */
  openStream(path: string): Promise<{ size: number; content: Readable } | undefined>;
  /** Runs `callback` with the path of the file, or of a local copy of it, and returns the result; undefined if there is no file. */
  withLocalFile<T>(
    path: string,
    callback: (localPath: string) => Promise<T>,
  ): Promise<T | undefined>;
  /** Reserves a free path; returns false if it is taken. */
  reserve(path: string): Promise<boolean>;
  /** Writes a file atomically: it becomes visible when `createFile` has completed it at a temporary local path. */
  write(path: string, createFile: (localPath: string) => Promise<void>): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** Deletes a file and others whose paths begin with its path, such as its thumbnails. Missing files are ignored. */
  deleteFiles(path: string, otherPaths: readonly string[]): Promise<void>;
  /** Returns the paths of all files below a folder, including hidden files, relative to the folder. */
  listFiles(folder: string): Promise<string[]>;
  /** Returns the names of the top-level folders, hidden or not, that begin with a prefix. */
  listFolders(prefix: string): Promise<string[]>;
  deleteFolder(folder: string): Promise<void>;
  /** Returns a handler of GET and HEAD, including ranges, which calls the next handler if there is no file. */
  createRequestHandler(setHeaders: (response: Response, path: string) => void): RequestHandler;
}

/** How long clients may cache a file. The content at a path never changes, because paths are not reused even after their file was deleted. */
export const CACHE_MAX_AGE_SECONDS = 365 * 24 * 60 * 60;

/** File permissions that give only the server's operating-system user access to stored files and to temporary copies of uploads. */
export const PRIVATE_FOLDER_OPTIONS = { recursive: true, mode: 0o700 } as const;
export const PRIVATE_FILE_MODE = 0o600;
