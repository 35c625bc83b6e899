/**
 * The context of an HTTP request to REST, GraphQL or HTML pages: its viewer, database session,
 * loaders and budget. docs/architecture.md shows which step uses each part.
 */
import type { ServerResponse } from 'node:http';
import type { ApiName } from '../shared/metadata';
import type { Context, RateBudget, RequestInfo, Viewer } from '../engine/context';
import { clientGoneError, toClientError } from '../engine/declare/errors';
import { POLICIES_BY_API } from '../engine/declare/policies';
import { Loaders } from '../engine/read/batch-loader';
import type { DatabaseSession } from '../database/session';
import { awaitTurn } from '../shared/fair-turns';
import type { RestContext } from '../rest/request';
import type { Route } from '../rest/routes';
import { AccountService } from './account';
import { Authentication } from './authentication';
import { rateLimitHeaders } from './cost-rate-limit';
import { type RequestHead, REQUEST_ID_HEADER, type ForwardedHeaders } from './forwarded-headers';
import type { Services } from './services';
import type { ClaimResult, IdempotencyClaim, StoredResponse } from './idempotency';

/** Collects the properties of a request that are known before authentication. */
function createRequestInfo(
  request: RequestHead,
  forwardedHeaders: ForwardedHeaders,
  countErrorCode?: (code: string) => void,
): RequestInfo {
  const clientAddress = forwardedHeaders.clientAddress(request);

  return {
    id: request.headers[REQUEST_ID_HEADER] as string,
    startedAt: performance.now(),
    baseUrl: forwardedHeaders.baseUrl(request),
    basePath: forwardedHeaders.basePath,
    languages: parseAcceptLanguage(request.headers['accept-language']),
    countErrorCode,
    clientAddress,
    clientNetwork: forwardedHeaders.clientNetwork(request, clientAddress),
  };
}

/**
 * Maximum number of characters of Accept-Language to read. Browsers send less than a tenth of it.
 */
const MAX_ACCEPT_LANGUAGE_LENGTH = 1000;
const MAX_ACCEPTED_LANGUAGES = 10;

/** Entry of Accept-Language: `de`, `de-AT` or `de_AT`, with an optional quality. */
const LANGUAGE_ENTRY_PATTERN =
  /^([a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?: ?; ?q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Parses the Accept-Language header (RFC 9110, section 12.5.4) to language codes without regions,
 * most preferred first. The library `negotiator` has no length limit and does not understand
 * `de_AT`, which some apps send.
 */
function parseAcceptLanguage(header: string | undefined): string[] {
  if (!header) return [];
  let limitedHeader = header;

  if (header.length > MAX_ACCEPT_LANGUAGE_LENGTH) {
    const endIndex = header.lastIndexOf(',', MAX_ACCEPT_LANGUAGE_LENGTH);

    limitedHeader = header.slice(0, Math.max(endIndex, 0));
  }

  return limitedHeader
    .split(',')
    .map((part, index) => {
      const [, code, quality = '1'] =
        LANGUAGE_ENTRY_PATTERN.exec(part.trim().replace(/[ \t]+/g, ' ')) ?? [];

      return {
        code: code?.toLowerCase(),
        quality: code === undefined ? 0 : Number(quality),
        index,
      };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .slice(0, MAX_ACCEPTED_LANGUAGES)
    .map(({ code }) => code!);
}

interface RunOnceOptions {
  /**
   * Key of an HTML form, used instead of the Idempotency-Key header. It is used up by a success; a
   * rejected form may be sent again with it.
   */
  formIdempotencyKey?: string;

  /**
   * Whether the request only writes rows. Such a request runs in one transaction, which also stores
   * the response and is rolled back unless the request succeeds.
   */
  onlyWritesRows?: boolean;
}

/**
 * Idempotent execution: a request that is repeated with the same Idempotency-Key does not run
 * again, but receives the stored response.
 */
class IdempotentExecution {
  constructor(
    private readonly head: RequestHead,
    private readonly services: Pick<Services, 'idempotencyKeyStore' | 'log'>,
    private readonly context: Context,
  ) {}

  /**
   * Claims the idempotency key of the request: the header, or the key of an HTML form. Claims
   * nothing for an anonymous client.
   */
  async claimKey(body: unknown, formIdempotencyKey?: string): Promise<ClaimResult | undefined> {
    const { method, url, headers } = this.head;
    const { viewer, session } = this.context;
    const key = formIdempotencyKey ?? headers['idempotency-key'];

    if (key === undefined || !viewer) return undefined;
    const { id, scopes } = viewer;
    const ifMatch = headers['if-match'];
    // Scopes are part of the fingerprint, so that a token with fewer scopes cannot read a stored
    // response.
    const fingerprintParts = [
      method,
      url,
      body,
      ...(scopes ? [[...scopes].sort()] : []),
      ...(ifMatch === undefined ? [] : [{ ifMatch }]),
    ];

    // The request continues after a disconnect, because the client will repeat it to get the
    // result.
    session.ignoreDisconnect();
    return this.services.idempotencyKeyStore
      .claimKey(id, key.toString(), fingerprintParts, session)
      .catch((error: unknown) => this.rethrowAsClientError(error));
  }

  /** Runs the request, or returns the stored response of an earlier run with the same key. */
  async runOnce(
    body: unknown,
    run: () => Promise<StoredResponse>,
    options: RunOnceOptions = {},
  ): Promise<StoredResponse> {
    const claimResult = await this.claimKey(body, options.formIdempotencyKey);

    if (!claimResult) return run();
    if ('storedResponse' in claimResult) return claimResult.storedResponse;
    const { claim } = claimResult;

    claim.releasesOnRejection = options.formIdempotencyKey !== undefined;

    try {
      if (!options.onlyWritesRows) return await runAndStore(claim, run);
      await this.context.services.media.validateUploads(body);
      return await claim.runInTransaction(run);
    } catch (error) {
      await claim.release();
      return this.rethrowAsClientError(error);
    }
  }

  private rethrowAsClientError(error: unknown): never {
    throw toClientError(error, this.services.log, this.context.request.id) ?? error;
  }
}

async function runAndStore(
  claim: IdempotencyClaim,
  run: () => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const response = await run();

  await claim.storeResponse(response);
  return response;
}

const AUTH_SCHEMES: Readonly<Record<ApiName, readonly string[]>> = {
  rest: ['token'],
  graphql: ['token', 'bearer'],
};

/**
 * The context of a request and of its resolvers. It is a class, because an object literal with a
 * getter would get a new hidden class in V8 for each request: it would be slow and stay in memory
 * until a major garbage collection.
 */
export class RequestContext implements Context {
  readonly request: RequestInfo;
  readonly policies: Context['policies'];
  readonly session: DatabaseSession;
  readonly loaders = new Loaders();
  readonly authentication: Authentication;
  budget?: RateBudget;
  // The following fields are initialised with undefined, so that setting them later does not change
  // the hidden class.
  meter?: Context['meter'] = undefined;
  storeIdempotentResponse?: Context['storeIdempotentResponse'] = undefined;

  /** Name of the GraphQL operation; null for an anonymous one. */
  operationName?: string | null = undefined;

  route?: Route = undefined;
  keepResponse?: RestContext['keepResponse'] = undefined;
  private accountService?: AccountService = undefined;
  private usesTimeZone: boolean;

  /**
   * `api` determines the accepted authentication schemes and the rules in which REST and GraphQL
   * differ. HTML pages that are not representations of a REST resource (sign-in, playground) follow
   * the rules of GraphQL.
   */
  constructor(
    readonly services: Services,
    private readonly head: RequestHead,
    readonly api: ApiName,
  ) {
    const { metrics } = services;

    this.request = createRequestInfo(
      head,
      services.forwardedHeaders,
      metrics && ((code) => metrics.countError(api, code)),
    );
    const { clientNetwork } = this.request;

    this.policies = POLICIES_BY_API[api];
    this.usesTimeZone = api === 'graphql';
    this.session = services.database.createSession({ address: clientNetwork });
    this.session.setClient('anonymous', clientNetwork);
    this.authentication = new Authentication(
      head,
      services,
      this.session,
      this.request,
      AUTH_SCHEMES[api],
    );
    this.budget = services.costRateLimiter.budgetFor(this, clientNetwork);
  }

  get viewer(): Viewer | null {
    return this.authentication.viewer;
  }

  /** Whether the request has no credentials, valid or not. */
  get isAnonymous(): boolean {
    const { authorization, cookie } = this.head.headers;

    return authorization === undefined && cookie === undefined;
  }

  get timeZone(): string {
    return (this.usesTimeZone && this.viewer?.timeZone) || this.services.timeZone;
  }

  /** Applies the time zone and the language of the account to an HTML page. */
  usePreferences(): void {
    const { language } = this.viewer ?? {};

    this.usesTimeZone = true;
    if (language) this.request.languages = [language, ...this.request.languages];
  }

  get account(): AccountService {
    return (this.accountService ??= new AccountService(
      this.head,
      this.services,
      this.session,
      this.request,
      this.authentication,
    ));
  }

  get idempotentExecution(): IdempotentExecution {
    return new IdempotentExecution(this.head, this.services, this);
  }

  /**
   * Waits until it is this client's turn: clients take turns at work that blocks the event loop.
   */
  awaitTurn(): Promise<void> {
    return awaitTurn({
      network: this.request.clientNetwork,
      userId: this.authentication.senderUserId,
    });
  }

  chargeResponseBytes(bytes: number): void {
    this.budget?.chargeResponseBytes(bytes);
  }

  chargeMilliseconds(ms: number): void {
    this.budget?.chargeMilliseconds(ms);
  }

  /** Headers with rate limits and server timing. */
  responseHeaders(): Record<string, string> {
    const { statementMs, statementCount } = this.session;

    return {
      ...(this.services.config.serverTiming && {
        'Server-Timing': `db;dur=${statementMs.toFixed(1)};desc="${statementCount} statements"`,
      }),
      ...rateLimitHeaders(this.budget),
    };
  }
}

/**
 * Cancels the reads of a request when its client disconnects. A write that has begun is completed.
 */
export function cancelReadsOnDisconnect(context: RequestContext, response: ServerResponse): void {
  response.once('close', () => {
    if (response.writableFinished) return;
    context.session.cancelReads();
    context.meter?.abortUnlessWriting(clientGoneError());
  });
}
