/**
 * File store for uploads: a folder or an S3 bucket. Paths are relative to it, as rows contain them.
 * Names that begin with a dot are hidden and never served.
 */
import type { Readable } from 'node:stream';
import type { RequestHandler, Response } from 'express';

export interface FileVersion {
  size: number;

  /**
   * Version of a file, which changes whenever the file is replaced. It is part of the cache keys of
   * thumbnails.
   */
  version: string;
}

export interface FileStore {
  /** Location of the file store, for messages to operators. */
  readonly location: string;

  /**
   * Whether the store is accessed over the network, so that even checking that a file exists takes
   * a round trip.
   */
  readonly isRemote: boolean;

  /** Checks that the file store exists and is writable. */
  checkAccess(): Promise<void>;

  /**
   * Reads the size and version of a file. A symbolic link that leads out of the store counts as
   * missing.
   */
  stat(path: string): Promise<FileVersion | undefined>;
  read(path: string): Promise<Buffer | undefined>;

  /** Opens a file as a stream, which the caller must read to its end. */
  openStream(path: string): Promise<{ size: number; content: Readable } | undefined>;

  /** Runs `callback` with the path of the file, or of a local copy of it. */
  withLocalFile<T>(
    path: string,
    callback: (localPath: string) => Promise<T>,
  ): Promise<T | undefined>;

  /** Reserves a free path for a new file. Returns false if the path is taken. */
  reserve(path: string): Promise<boolean>;

  /**
   * Writes a file atomically: it becomes visible when `createFile` has completed it at a temporary
   * local path.
   */
  write(path: string, createFile: (localPath: string) => Promise<void>): Promise<void>;
  move(from: string, to: string): Promise<void>;

  /** Deletes a file and others whose paths begin with its path, such as its thumbnails. */
  deleteFiles(path: string, otherPaths: readonly string[]): Promise<void>;

  /** Lists the paths of all files below a folder, including hidden ones, relative to the folder. */
  listFiles(folder: string): Promise<string[]>;

  /** Lists the top-level folders, hidden or not, whose names begin with a prefix. */
  listFolders(prefix: string): Promise<string[]>;
  deleteFolder(folder: string): Promise<void>;

  /**
   * Creates a handler of GET and HEAD requests, including ranges. It passes requests for missing
   * files to the next handler.
   */
  createRequestHandler(setHeaders: (response: Response, path: string) => void): RequestHandler;
}

/**
 * How long clients may cache a file. The content at a path never changes, because paths are not
 * reused.
 */
export const CACHE_MAX_AGE_SECONDS = 365 * 24 * 60 * 60;

/**
 * Permissions of stored files and temporary copies: access only for the server's operating-system
 * user.
 */
export const PRIVATE_FOLDER_OPTIONS = { recursive: true, mode: 0o700 } as const;
export const PRIVATE_FILE_MODE = 0o600;
