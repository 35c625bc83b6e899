/** Where the files of rows are kept: a folder, or a bucket of S3. Paths are as rows name them; what begins with a dot is hidden from everybody. */
import type { Readable } from 'node:stream';
import type { RequestHandler, Response } from 'express';

/** What tells one file at a path from another one there. */
export interface FileFacts {
  size: number;
  version: string;
}

export interface FileStore {
  /** As an operator knows it. */
  readonly name: string;
  /** Whether to look whether something is there takes a journey. */
  readonly isFar: boolean;
  /** Throws a ConfigError unless it is there and can be written to. */
  check(): Promise<void>;
  /** Undefined where there is no file, or one that is only linked from here. */
  facts(path: string): Promise<FileFacts | undefined>;
  read(path: string): Promise<Buffer | undefined>;
  /** To be read to its end. */
  stream(path: string): Promise<{ size: number; content: Readable } | undefined>;
  /** Undefined where there is no file; else what the work answers that is done on it, on this machine. */
  lend<T>(path: string, work: (place: string) => Promise<T>): Promise<T | undefined>;
  /** Takes a free name; false: it is taken. */
  reserve(path: string): Promise<boolean>;
  /** Whoever reads the path sees the whole file that `put` has made or none of it. */
  write(path: string, put: (place: string) => Promise<void>): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** One path, and others that begin with it; what is not there need not be removed. */
  remove(path: string, others: readonly string[]): Promise<void>;
  /** Of a folder, hidden or not: paths of all files below it, from there. */
  list(folder: string): Promise<string[]>;
  /** At the top, hidden or not: those whose names begin so. */
  folders(beginning: string): Promise<string[]>;
  /** A folder with all that is in it. */
  discard(folder: string): Promise<void>;
  /** Answers GET and HEAD for what is there, parts of it too; passes on for what is not. */
  serve(describe: (response: Response, path: string) => void): RequestHandler;
}

/** A path never gets other content: names are not taken twice, not even once their file is gone. */
export const KEPT_SECONDS = 365 * 24 * 60 * 60;

/** Files are for those to whom the server gives them, not for other users of its machine. A copy of an upload is as private as the upload. */
export const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;
export const PRIVATE_FILE = 0o600;
