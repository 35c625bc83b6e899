/** Request context: the viewer, database session, data loaders and services of one request, for resolvers of both interfaces. */
import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import type { ApiName } from '../contract/metadata';
import type { UploadedFile } from '../platform/multipart';
import type { RequestTrace } from '../platform/requesttrace';
import type { DatabaseSession } from '../database/session';
import type { Meter } from './operation/meter';
import type { AtomicState } from './operation/atomic';
import type { OperationCost } from './operation/cost';
import type { Loaders } from './read/loaders';
import type { ChangeLog } from './changes/changelog';
import type { DerivedValueCache } from './cache/derivedvalues';
import type { CatalogueCache } from './cache/cataloguecache';
import type { Scope } from './access/scopes';
import type { ApiPolicies } from './model/policies';

export interface Viewer {
  id: number;
  username: string;
  /** Whether the user is a superuser. Superusers review the contributions of other users to public data; their own contributions need no review. */
  isSuperuser: boolean;
  /** Scopes of the access token that authenticated the request. Absent if the user signed in by other means, which permits everything. */
  scopes?: ReadonlySet<Scope>;
}

/** File storage for uploads, which rows refer to by path. */
export interface MediaStorage {
  /** Maximum total size of one user's files in bytes. */
  readonly quotaBytes: number;
  /**
   * Stores a file and returns its path of at most `maxPathLength` characters. `isPathTaken` returns whether a path belongs, or once belonged, to
   * another file.
   */
  store(
    folder: string,
    file: UploadedFile,
    maxPathLength: number,
    isPathTaken: (path: string) => Promise<boolean>,
  ): Promise<string>;
  remove(paths: readonly string[]): Promise<void>;
  /**
   * Validates all uploaded files in a request body or in variables, before the request starts a transaction. Never throws: invalid files are
   * reported later, by the validation of the fields that contain them.
   */
  validateUploads(body: unknown): Promise<void>;
  /** Creates the thumbnails of an image. Returns true if they are PNGs, the format for GIFs and images with transparency. */
  createThumbnails(path: string): Promise<boolean>;
  /** Returns whether the thumbnails of an image are PNGs, without creating them. */
  hasPngThumbnails(path: string): Promise<boolean>;
}

export interface CostReservation {
  /**
   * Replaces the reserved cost by what the operation has used, even if that is more. Every reservation must be settled, because other requests may wait
   * for it. `objectCount` is the number of objects in the response.
   */
  settle(objectCount?: number): void;
}

/** Rate limiter for the client that sent a request, by the cost of its operations (leaky bucket). */
export interface RateBudget {
  /**
   * Reserves the estimated cost of an operation in the budget before the operation runs. If the cost will fit once reservations of other requests are
   * settled, waits for that. Throws RATE_LIMITED, with `retryAfter` in seconds, if the budget still does not suffice. A cost above the capacity of
   * the budget is reduced to the capacity.
   */
  reserve(cost: OperationCost): Promise<CostReservation>;
  /** Starts work that is charged when it is settled, but never rejected: an event of a subscription. */
  beginUnreserved(): CostReservation;
  chargeResponseBytes(bytes: number): void;
  /** Throws RATE_LIMITED if the budget is spent. Cost that is only reserved does not count as spent. */
  requireRemainingBudget(): void;
  /** Charges the time in which the request blocked the event loop (parsing, validation), whether it succeeded or not. */
  chargeMilliseconds(ms: number): void;
  /** State of the rate-limit budget; undefined until the request has charged or reserved cost. */
  readonly budgetState: BudgetState | undefined;
}

export interface BudgetState {
  /** Cost of this request so far. */
  cost: number;
  limit: number;
  remaining: number;
  /** Seconds until the whole budget of the client is available again, if it spends nothing in the meantime. */
  resetSeconds: number;
}

export interface RequestInfo {
  /** Request id, which is sent as X-Request-Id and logged. */
  readonly id: string;
  /** Start time of the request, as returned by `performance.now()`. */
  readonly startedAt: number;
  /** Scheme and host of links in the response. */
  readonly baseUrl: string;
  /** Key by which limits distinguish anonymous clients: the IPv4 address, or the /64 network of an IPv6 address. */
  readonly clientNetwork: string;
  /** Language codes that the client accepts, the preferred one first. */
  readonly languages: readonly string[];
  trace?: RequestTrace;
  readonly countErrorCode?: (code: string) => void;
}

/** Actions on the account of the sender. All but `signIn` and `requireValidCredentials` throw for anonymous clients and for requests with an access token. */
export interface AccountActions {
  /** Checks the user name and password and returns the user's API key, a token that authenticates further requests. */
  signIn(username: string, password: string): Promise<string>;
  /** Changes the viewer's password and returns their new API key. Throws InvalidInput for a wrong old or a weak new password. */
  changePassword(oldPassword: string, newPassword: string): Promise<string>;
  replaceApiKey(): Promise<string>;
  /**
   * Creates a personal access token and returns it. It is not stored in readable form, so it cannot be shown again. Throws InvalidInput, for example
   * for a duplicate name.
   */
  createAccessToken(input: {
    name: string;
    scopes: readonly string[];
    expiresAt: string | null;
  }): Promise<{ id: number; token: string }>;
  /** Revokes the access token with this id; without an id, all access tokens of the viewer. Returns the number of revoked tokens. */
  revokeAccessTokens(id?: number): Promise<number>;
  /** Ends all browser sessions of the viewer. Returns their number. */
  endSessions(): Promise<number>;
  /** Throws if the viewer's credentials have been revoked since the request started. */
  requireValidCredentials(): Promise<void>;
}

export interface ResolverServices {
  readonly catalogue: CatalogueCache;
  readonly derivedValues: DerivedValueCache;
  readonly changeLog: ChangeLog;
  readonly media: MediaStorage;
  /** Time zone of the server, which determines the current date. */
  readonly timeZone: string;
  readonly log: Logger;
}

export interface Context {
  readonly request: RequestInfo;
  viewer: Viewer | null;
  /** API of the request (GraphQL or REST), used for field names in messages and for metrics. Other differences between the APIs are in `policies`. */
  readonly api: ApiName;
  readonly policies: Readonly<ApiPolicies>;
  readonly session: DatabaseSession;
  readonly loaders: Loaders;
  readonly account: AccountActions;
  readonly services: ResolverServices;
  budget?: RateBudget;
  atomicState?: AtomicState;
  /** Stores the response to a mutation with an Idempotency-Key in the current transaction. Absent if the request has no such key. */
  storeIdempotentResponse?: (result: ExecutionResult) => Promise<void>;
  /** Counts what the running operation uses, and aborts it at a limit. Absent before the first operation. */
  meter?: Meter;
  /** During the export of a computed time series: number of rows already written, after which the next page starts. Absent otherwise. */
  exportedRowCount?: number;
  /** Signal that is aborted when the client ends the subscription, so that waiting for the next change ends too. Absent for other operations. */
  subscriptionSignal?: AbortSignal;
}
