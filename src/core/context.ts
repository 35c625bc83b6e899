/** Request context: the viewer, database session, data loaders and services of one request, for resolvers of both interfaces. */
import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import type { UploadedFile } from '../platform/multipart';
import type { Trace } from '../platform/trace';
import type { Session } from '../database/session';
import type { ResponseSize } from './operation/responsesize';
import type { AtomicState } from './operation/atomic';
import type { OperationCost } from './operation/cost';
import type { Loaders } from './read/loaders';
import type { ChangeLog } from './changes/changelog';
import type { DerivedValueCache } from './cache/derivedvalues';
import type { NameIndexes } from './cache/nameindex';
import type { CatalogueCache } from './cache/catalogue';
import type { Scope } from './access/scopes';
import type { Api, Policies } from './model/policies';

export interface Viewer {
  id: number;
  username: string;
  /** Superusers may publish catalogue rows without review. */
  isSuperuser: boolean;
  /** Scopes of the access token of the request; absent without an access token, which allows everything. */
  scopes?: ReadonlySet<Scope>;
}

/** File storage for uploads, which rows refer to by path. */
export interface MediaStorage {
  /** Maximum total size of one user's files in bytes. */
  readonly quotaBytes: number;
  /** Stores a file and returns its path, which has at most `max` characters. */
  store(folder: string, file: UploadedFile, max: number, wasTaken: (path: string) => Promise<boolean>): Promise<string>;
  remove(paths: readonly string[]): Promise<void>;
  /** Creates the thumbnails of an image. Returns whether they are PNG, as for images with transparency. */
  thumbnails(path: string): Promise<boolean>;
  /** Whether the thumbnails of an image are PNG, without creating them. */
  hasPngThumbnails(path: string): Promise<boolean>;
}

export interface CredentialManager {
  /** Creates a token and returns it; it cannot be shown again. Throws InvalidInput, for example for a duplicate name. */
  createAccessToken(input: { name: string; scopes: readonly string[]; expiresAt: string | null }): Promise<{ id: number; token: string }>;
  /** Revokes one access token, or all without an id. Returns the number of revoked tokens. */
  revokeAccessTokens(id?: number): Promise<number>;
  /** Ends all browser sessions. Returns their number. */
  endSessions(): Promise<number>;
}

export interface Reservation {
  /** Refunds the unused part once the operation has run. Each reservation must be settled, because others may wait for it. `objects`: of the response. */
  settle(objects?: number): void;
}

/** Rate limit of the sender of a request, by the cost of operations (leaky bucket). */
export interface RateBudget {
  /**
   * Reserves the estimated cost of an operation before it runs, if necessary after other operations have been settled. Throws RATE_LIMITED, with
   * `retryAfter` in seconds, if it exceeds the remaining budget even then.
   */
  reserve(cost: OperationCost): Promise<Reservation>;
  chargeResponseBytes(bytes: number): void;
  /** Throws RATE_LIMITED if the budget is exhausted, apart from reservations. */
  requireBudget(): void;
  /** Charges milliseconds in which the request blocked the event loop (parsing, validation), whether it succeeded or not. */
  chargeMilliseconds(ms: number): void;
  /** The state of the budget; undefined until something has been charged or reserved. */
  readonly state: BudgetState | undefined;
}

export interface BudgetState {
  /** Cost of this request so far. */
  cost: number;
  limit: number;
  remaining: number;
  /** Seconds until the rate limit is fully replenished. */
  resetSeconds: number;
}

export interface RequestInfo {
  /** X-Request-Id of the response and the log. */
  readonly id: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Scheme and host of links in the response. */
  readonly baseUrl: string;
  /** Language codes that the client accepts, by preference. */
  readonly languages: readonly string[];
  trace?: Trace;
  readonly countErrorCode?: (code: string) => void;
}

export interface AccountActions {
  /** Checks name and password, and returns the user's token. */
  signIn(username: string, password: string): Promise<string>;
  /** Changes the viewer's password and returns their new token. Throws InvalidInput for a wrong old or a weak new password. */
  changePassword(oldPassword: string, newPassword: string): Promise<string>;
  /** Replaces the viewer's token and returns the new one; the old token becomes invalid. */
  replaceToken(): Promise<string>;
  /** Throws for anonymous clients and for requests with an access token. */
  credentials(): CredentialManager;
  /** Throws if the viewer's credentials have been revoked since the request started. */
  confirmCredentials(): Promise<void>;
}

export interface ResolverServices {
  readonly catalogue: CatalogueCache;
  readonly derivedValues: DerivedValueCache;
  readonly nameIndexes: NameIndexes;
  readonly changeLog: ChangeLog;
  readonly media: MediaStorage;
  /** Time zone of the server, which determines the current date. */
  readonly timeZone: string;
  readonly log: Logger;
}

export interface Context {
  readonly request: RequestInfo;
  viewer: Viewer | null;
  /** Interface of the request; names of fields in messages and metrics depend on it, all other differences are `policies`. */
  readonly api: Api;
  readonly policies: Readonly<Policies>;
  readonly session: Session;
  readonly loaders: Loaders;
  readonly account: AccountActions;
  readonly services: ResolverServices;
  budget?: RateBudget;
  /** Set while an `@atomic` operation runs. */
  atomic?: AtomicState;
  /** Stores the response to a mutation with an Idempotency-Key in the current transaction. Absent without such a key. */
  storeResponse?: (result: ExecutionResult) => Promise<void>;
  responseSize?: ResponseSize;
  /** During an export of a series: the number of rows already written, at which the next page starts. Otherwise absent. */
  exportOffset?: number;
  /** Aborted when the client ends the subscription, which may be waiting for a change. Absent for other operations. */
  subscriptionSignal?: AbortSignal;
}
