/** What belongs to one request: who asks, the database session, the loaders. */
import type { Logger } from 'pino';
import type { UploadedFile } from '../platform/multipart';
import type { Trace } from '../platform/trace';
import type { Session } from '../database/session';
import type { AnswerSize } from './operation/answersize';
import type { Atomic } from './operation/atomic';
import type { Cost } from './operation/cost';
import type { Loaders } from './read/loaders';
import type { ChangeLog } from './changes/changes';
import type { Memory } from './cache/memory';
import type { NamesInMemory } from './cache/namesinmemory';
import type { ReferenceTables } from './cache/reference';
import type { Scope } from './access/scopes';

export interface Viewer {
  id: number;
  username: string;
  /** May publish without review. */
  isSuperuser: boolean;
  /** Of the access token that they came with; absent: all that they may do. */
  scopes?: ReadonlySet<Scope>;
}

/** Keeps the files that rows name by their paths. */
export interface Media {
  /** In bytes: of all files of one user. */
  readonly quota: number;
  /** Answers the path, of at most `max` characters. */
  store(folder: string, file: UploadedFile, max: number, wasTaken: (path: string) => Promise<boolean>): Promise<string>;
  remove(paths: readonly string[]): Promise<void>;
  /** Makes the thumbnails of an image; whether they are PNG, because the image has transparency. */
  thumbnails(path: string): Promise<boolean>;
  /** Whether its thumbnails are PNG, without making any. */
  hasPngThumbnails(path: string): Promise<boolean>;
}

/** What users do about the ways in which they are signed in, beside the one API key. */
export interface Credentials {
  /** Answers the token, which nobody can show again. InvalidInput for a name that is taken, and the like. */
  createAccessToken(wanted: { name: string; scopes: readonly string[]; expiresAt: string | null }): Promise<{ id: number; token: string }>;
  /** Answers how many there were; without an id all of them are revoked. */
  revokeAccessTokens(id?: number): Promise<number>;
  /** Answers how many browsers were signed in. */
  endSessions(): Promise<number>;
}

export interface Spending {
  /** Before an operation runs. RATE_LIMITED, with `retryAfter` in seconds, if that is more than there is. */
  reserve(cost: Cost): void;
  /** After it has run: gives back what it did not need. */
  settle(cost: Cost): void;
  sent(bytes: number): void;
  /** RATE_LIMITED if there is nothing left to spend. */
  demand(): void;
  /** Pays for milliseconds in which the server did nothing else, whatever came of it. */
  worked(ms: number): void;
  /** Once something was reserved. */
  readonly standing: Standing | undefined;
}

export interface Standing {
  /** Of this request, as far as it is known. */
  cost: number;
  limit: number;
  remaining: number;
  /** Until all of the limit is there again. */
  seconds: number;
}

export interface Context {
  requestId: string;
  /** Where somebody collects them. */
  trace?: Trace;
  /** Who counts errors hears the code of each. */
  told?: (code: string) => void;
  viewer: Viewer | null;
  /** The interface that asks: REST keeps to its recorded contract where GraphQL is stricter. */
  api: 'graphql' | 'rest';
  session: Session;
  /** When the request began, by `performance.now()`. */
  began: number;
  loaders: Loaders;
  reference: ReferenceTables;
  memory: Memory;
  names: NamesInMemory;
  changes: ChangeLog;
  media: Media;
  /** The server's zone, which decides what day it is. */
  timeZone: string;
  /** Scheme and host of the links in an answer. */
  baseUrl: string;
  /** Codes of the languages that the client accepts, best first. */
  languages: readonly string[];
  /** Answers the token of the user with this name and password. */
  signIn(username: string, password: string): Promise<string>;
  /** Sets a new password of the viewer and answers their new token; InvalidInput for a wrong old or a weak new one. */
  changePassword(oldPassword: string, newPassword: string): Promise<string>;
  /** Answers a new token of the viewer; the old one stops working. */
  replaceToken(): Promise<string>;
  /** Throws for who is nobody, or came with an access token. */
  credentials(): Credentials;
  /** Throws if the viewer may no longer be signed in. */
  confirm(): Promise<void>;
  /** Of a file that is written from a series: how many of its rows are there, so that the next ones are asked for. Absent: there is no file. */
  written?: number;
  /** While an `@atomic` operation runs. */
  atomic?: Atomic;
  /** Of the answer to the operation that runs, where it is bounded. */
  size?: AnswerSize;
  /** Absent: whoever asks may spend as much as they like. */
  spending?: Spending;
  log: Logger;
}
