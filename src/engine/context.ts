/**
 * Request context: the viewer, database session, data loaders and services that the resolvers of a
 * request use.
 */
import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import type { ApiName } from '../shared/metadata';
import type { UploadedFile } from '../shared/multipart';
import type { RequestTrace } from '../shared/request-trace';
import type { DatabaseSession } from '../database/session';
import type { Meter } from './execution/meter';
import type { OperationCost } from './execution/cost';
import type { Loaders } from './read/batch-loader';
import type { ChangeLog } from './changes/change-log';
import type { Entity, RowOf } from './declare/fields';
import type { Scope } from './access/scopes';
import type { ApiPolicies } from './declare/policies';

export interface Viewer {
  id: number;
  username: string;

  /** Superusers administrate the service and may write the catalogue. */
  isSuperuser: boolean;

  /** Curators write the catalogue and review contributions. Superusers are curators. */
  isCurator: boolean;

  /** Whether some rows of the catalogue are contributions of the viewer that are not accepted. */
  hasContributions: boolean;

  /**
   * Scopes of the access token that authenticated the request. Without an access token, everything
   * is permitted.
   */
  scopes?: ReadonlySet<Scope>;

  /** Preferred time zone (IANA name); null for that of the server. */
  timeZone: string | null;

  /** Code of the preferred language; null for those of Accept-Language. */
  language: string | null;
}

/** File storage for uploads, which rows refer to by path. */
export interface MediaStorage {
  /** Maximum total size of one user's files in bytes. */
  readonly quotaBytes: number;

  /**
   * Stores a file under a new path of at most `maxPathLength` characters. `isPathTaken` tells
   * whether a path belongs, or once belonged, to another file.
   */
  store(
    folder: string,
    file: UploadedFile,
    maxPathLength: number,
    isPathTaken: (path: string) => Promise<boolean>,
  ): Promise<string>;
  remove(paths: readonly string[]): Promise<void>;

  /**
   * Validates uploaded files before the request starts a transaction. Never throws: the validation
   * of the fields that contain the files reports invalid ones later.
   */
  validateUploads(body: unknown): Promise<void>;

  /**
   * Creates the thumbnails of an image and tells whether they are PNG files. Images with
   * transparency and GIFs get PNG thumbnails.
   */
  createThumbnails(path: string): Promise<boolean>;

  hasPngThumbnails(path: string): Promise<boolean>;
}

export interface CostReservation {
  /**
   * Charges the actual cost instead of the reserved cost, even if the actual cost is higher.
   * `objectCount` is the number of objects in the response. Every reservation must be settled,
   * because other requests may wait for it.
   */
  settle(objectCount?: number): void;
}

/** Rate limiter by the cost of a client's operations (leaky bucket). */
export interface RateBudget {
  /**
   * Reserves the estimated cost before the operation runs, waiting for reservations of other
   * requests if necessary. Throws RATE_LIMITED (with `retryAfter` in seconds) if the budget does
   * not suffice. A cost above the capacity of the budget counts as the capacity.
   */
  reserve(cost: OperationCost): Promise<CostReservation>;

  /**
   * Starts the measurement of work that is never rejected, such as an event of a subscription.
   * `settle` charges its cost.
   */
  beginUnreserved(): CostReservation;
  chargeResponseBytes(bytes: number): void;

  /** Whether the budget is spent. Reserved cost does not count as spent. */
  readonly isSpent: boolean;

  /** Throws RATE_LIMITED if the budget is spent. */
  requireRemainingBudget(): void;

  /**
   * Charges time for which the request blocked the event loop (parsing, validation), even if the
   * request failed.
   */
  chargeMilliseconds(ms: number): void;

  /** State of the budget, once the request has charged or reserved cost. */
  readonly budgetState: BudgetState | undefined;
}

export interface BudgetState {
  /** Cost of this request so far. */
  cost: number;
  limit: number;
  remaining: number;

  /** Seconds until the budget is fully replenished if the client spends nothing more. */
  resetSeconds: number;
}

export interface RequestInfo {
  /** Request id, sent as X-Request-Id and logged. */
  readonly id: string;

  /** Start time of the request, as returned by `performance.now()`. */
  readonly startedAt: number;

  /** Scheme, host and base path of links in the response. */
  readonly baseUrl: string;

  /** Path of PUBLIC_URL, below which the service is; usually empty. */
  readonly basePath: string;
  readonly clientAddress: string;

  /**
   * Network by which limits distinguish anonymous clients: an IPv4 address or the /64 network of an
   * IPv6 address.
   */
  readonly clientNetwork: string;

  /** Language codes that the client accepts, preferred first. */
  languages: readonly string[];
  trace?: RequestTrace;
  readonly countErrorCode?: (code: string) => void;
}

/**
 * Actions on the viewer's account. All but `signIn` and `requireValidCredentials` reject anonymous
 * clients and access tokens.
 */
export interface AccountActions {
  /**
   * Checks the user name and password and returns the user's API key, which authenticates further
   * requests.
   */
  signIn(username: string, password: string): Promise<string>;

  /**
   * Changes the viewer's password and returns the new API key. Throws InvalidInput for a wrong old
   * or a weak new password.
   */
  changePassword(oldPassword: string, newPassword: string): Promise<string>;

  /**
   * Replaces the API key, or only the one with this digest, so that a form that is sent twice does
   * not replace the new key. Returns the new key, if there is one.
   */
  replaceApiKey(digest?: string): Promise<string | undefined>;

  /**
   * Creates a personal access token. Only its hash is stored, so it cannot be shown again. Throws
   * InvalidInput, for example for a duplicate name.
   */
  createAccessToken(input: {
    name: string;
    scopes: readonly string[];
    expiresAt: string | null;
  }): Promise<{ id: number; token: string }>;

  /**
   * Revokes one access token, or without an id all access tokens of the viewer. Returns the number
   * of revoked tokens.
   */
  revokeAccessTokens(id?: number): Promise<number>;

  /** Ends all browser sessions of the viewer and returns their number. */
  endSessions(): Promise<number>;

  /** Throws if the viewer's credentials have been revoked since the request started. */
  requireValidCredentials(): Promise<void>;
}

/** In-memory rows of the small public tables. */
export interface Catalogue {
  /** Number of completed reads of the tables. */
  readonly generation: number;

  /** PostgreSQL snapshot whose visible changes the rows include. */
  readonly snapshot?: string;
  readonly tables: string[];
  get<M>(entity: Entity<M>, id: number): RowOf<M> | null;
  rowsOf<M>(entity: Entity<M>): RowOf<M>[];
  reload(): Promise<void>;
}

/** Cached values that are computed from all rows of a user. */
export interface DerivedValues {
  getOrCompute<T extends object>(
    name: string,
    ownerId: number,
    context: Context,
    compute: () => Promise<T> | T,
  ): Promise<T>;
}

/** Progress of an `@atomic` mutation. */
export interface AtomicState {
  /** Response key of the root field that failed. */
  failedResponseKey?: string;
}

export interface ResolverServices {
  readonly catalogue: Catalogue;
  readonly derivedValues: DerivedValues;
  readonly changeLog: ChangeLog;
  readonly media: MediaStorage;

  /** Time zone of the server. */
  readonly timeZone: string;
  readonly log: Logger;
}

export interface Context {
  readonly request: RequestInfo;
  viewer: Viewer | null;

  /**
   * API of the request, for field names in messages and for metrics. All other differences between
   * the APIs are in `policies`.
   */
  readonly api: ApiName;
  readonly policies: Readonly<ApiPolicies>;

  /**
   * Time zone that determines the current date: that of the account, or of the server. REST always
   * uses that of the server.
   */
  readonly timeZone: string;
  readonly session: DatabaseSession;
  readonly loaders: Loaders;
  readonly account: AccountActions;
  readonly services: ResolverServices;
  budget?: RateBudget;
  atomicState?: AtomicState;

  /** Stores the response to a mutation with an Idempotency-Key in the current transaction. */
  storeIdempotentResponse?: (result: ExecutionResult) => Promise<void>;

  /** Measures the running operation and aborts it at a limit. Set by the first operation. */
  meter?: Meter;

  /**
   * Offset of the next page in an export of a computed time series: the number of rows already
   * written.
   */
  exportedRowCount?: number;

  /**
   * PostgreSQL's snapshot (`pg_current_snapshot`) before a query with `changes` and other fields
   * has read anything.
   */
  initialSnapshot?: string;

  /**
   * Aborted when the client ends the subscription, so that waiting for the next change ends too.
   */
  subscriptionSignal?: AbortSignal;
}
