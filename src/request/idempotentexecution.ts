/** Idempotent execution of requests: a request that is repeated with the same Idempotency-Key does not run again, but receives the stored response. */
import type { Context } from '../core/context';
import { toClientError } from '../core/model/errors';
import type { ClaimResult, IdempotencyClaim, StoredResponse } from './idempotency';
import type { RequestHead } from './forwardedheaders';
import type { Services } from './services';

export interface RunOnceOptions {
  /** Single-use key of an HTML form, which replaces the Idempotency-Key header. A rejected form may be corrected and sent again with the same key. */
  formIdempotencyKey?: string;
  /** Whether the request only writes rows. Then it runs in one transaction, which also stores its response and is rolled back unless the request succeeds. */
  onlyWritesRows?: boolean;
}

export class IdempotentExecution {
  constructor(
    private readonly request: RequestHead,
    private readonly services: Pick<Services, 'idempotencyKeyStore' | 'log'>,
    private readonly context: Context,
  ) {}

  /**
   * Claims the idempotency key of the request. Returns undefined if the request has no key or the client is anonymous. `body`: parsed request body.
   * `formIdempotencyKey`: single-use key of an HTML form.
   */
  async claimKey(body: unknown, formIdempotencyKey?: string): Promise<ClaimResult | undefined> {
    const { method, url, headers } = this.request;
    const { viewer, session } = this.context;
    const key = formIdempotencyKey ?? headers['idempotency-key'];
    if (key === undefined || !viewer) return undefined;
    // The scopes of the token are part of the fingerprint, so that a token with fewer scopes cannot read a stored response.
    const { id, scopes } = viewer;
    const ifMatch = headers['if-match'];
    // The request continues even if the client disconnects, because the client will repeat it to get the result.
    session.ignoreDisconnect();
    return this.services.idempotencyKeyStore
      .claimKey(
        id,
        key.toString(),
        [
          method,
          url,
          body,
          ...(scopes ? [[...scopes].sort()] : []),
          ...(ifMatch === undefined ? [] : [{ ifMatch }]),
        ],
        session,
      )
      .catch((error: unknown) => this.rethrowAsClientError(error));
  }

  /** Runs the request, or returns the stored response if it has already run with the same key. Without a key, always runs it. */
  async runOnce(
    body: unknown,
    run: () => Promise<StoredResponse>,
    options: RunOnceOptions = {},
  ): Promise<StoredResponse> {
    const keyClaimResult = await this.claimKey(body, options.formIdempotencyKey);
    if (!keyClaimResult) return run();
    if ('storedResponse' in keyClaimResult) return keyClaimResult.storedResponse;
    const { claim } = keyClaimResult;
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
