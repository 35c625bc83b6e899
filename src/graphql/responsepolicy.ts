/**
 * Apollo plugin for the HTTP response of a GraphQL operation: charges its cost, applies the Idempotency-Key, sets status and headers, and serializes
 * the result. The steps of `willSendResponse` depend on each other and must run in this order.
 */
import {
  HeaderMap,
  type ApolloServerPlugin,
  type BaseContext,
  type GraphQLRequest,
  type GraphQLRequestContext,
} from '@apollo/server';
import { GraphQLError, type FormattedExecutionResult } from 'graphql';
import { HTTP_STATUS_BY_ERROR_CODE, TEMPORARY_ERROR_CODES } from '../contract/errorcodes';
import { DRY_RUN_HEADER } from '../contract/messages';
import type { Context } from '../core/context';
import { ClientError, resultTooLargeError } from '../core/model/errors';
import type { Executor } from '../core/operation/executor';
import { cachedIntrospectionJson } from '../core/operation/introspectioncache';
import { stringifyIncrementally } from '../platform/incrementaljsonwriter';
import type { ClaimResult } from '../request/idempotency';
import type { RequestContext } from '../request/requestcontext';
import { dryRunResponse, isDryRun } from './dryrun';
import { limitFormattedErrors } from './errorlimits';
import {
  hasTemporaryErrorCode,
  JSON_MEDIA_TYPE,
  negotiateMediaType,
  headersWithRetryAfter,
} from './httperrors';

export interface ApolloContext {
  requestContext: RequestContext;
  resolverContext: Context;
}

/** Error codes of well-formed requests whose operation is rejected before execution. */
const REJECTED_OPERATION_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
];

/** Error codes of responses that are not stored under an Idempotency-Key, because a retry may succeed. */
const RETRYABLE_CODES = [
  'INTERNAL_SERVER_ERROR',
  'TOO_MANY_REQUESTS',
  'RATE_LIMITED',
  'CLIENT_GONE',
  ...TEMPORARY_ERROR_CODES,
];

type ResponseHead = GraphQLRequestContext<BaseContext>['response']['http'];

const isDryRunRequest = ({ extensions, http }: GraphQLRequest): boolean =>
  isDryRun(extensions, http?.headers.get(DRY_RUN_HEADER));

export const graphqlResponsePlugin = (
  executor: Executor,
  maxResponseBytes: number,
): ApolloServerPlugin<ApolloContext> => ({
  requestDidStart: async ({ request, contextValue: { requestContext, resolverContext } }) => {
    // An empty operation name counts as absent. (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters)
    request.operationName ||= undefined;
    let keyClaimResult: ClaimResult | undefined;
    // Parsing and validation are charged even for invalid documents.
    const awaitTurnAndChargeDuration = async () => {
      await requestContext.awaitTurn();
      const startedAt = performance.now();
      return async () => resolverContext.budget?.chargeMilliseconds(performance.now() - startedAt);
    };
    return {
      parsingDidStart: awaitTurnAndChargeDuration,
      validationDidStart: awaitTurnAndChargeDuration,
      async didResolveOperation({ operation, source }) {
        if (operation?.operation !== 'mutation' || isDryRunRequest(request)) return;
        keyClaimResult = await claimIdempotencyKey(requestContext, [
          source,
          request.operationName ?? null,
          request.variables ?? {},
        ]);
        if (!keyClaimResult || 'storedResponse' in keyClaimResult) return;
        const { claim } = keyClaimResult;
        resolverContext.storeIdempotentResponse = async (result) => {
          if (!resolverContext.meter?.abortReason)
            await claim.storeResponseInTransaction({ status: 200, body: result });
        };
      },
      async responseForOperation(operationContext) {
        if (isDryRunRequest(request)) {
          await requestContext.awaitTurn();
          return dryRunResponse(executor, operationContext, resolverContext);
        }
        if (!keyClaimResult || !('storedResponse' in keyClaimResult)) return null;
        const { status, body } = keyClaimResult.storedResponse;
        return {
          http: { status, headers: new HeaderMap() },
          body: { kind: 'single', singleResult: body as FormattedExecutionResult },
        };
      },
      async willSendResponse({ response: { http, body }, operation }) {
        requestContext.operationName = operation && (operation.name?.value ?? null);
        if (body.kind !== 'single') return;
        const result = body.singleResult;
        if (result.errors?.length)
          result.errors = limitFormattedErrors(
            result.errors,
            executor.permitsIntrospection(resolverContext),
          );
        setOverloadStatus(http, result);
        // The result for an Idempotency-Key is stored before its HTTP status is adapted to the media type, because a repeated request may accept a
        // different one.
        if (keyClaimResult && 'claim' in keyClaimResult)
          await storeIdempotentResult(keyClaimResult, http, result);
        setStatusByMediaType(http, result, request.http?.headers.get('accept'));
        setExceededLimitStatus(http, result);
        const responseText = await serializeResult(result, resolverContext, maxResponseBytes, http);
        resolverContext.budget?.chargeResponseBytes(Buffer.byteLength(responseText));
        for (const [name, value] of Object.entries(requestContext.responseHeaders()))
          http.headers.set(name.toLowerCase(), value);
        body.singleResult = {
          data: new SerializedBody(`${responseText}\n`) as unknown as Record<string, unknown>,
        };
      },
    };
  },
});

/**
 * Reserves the Idempotency-Key of a mutation. If the mutation has already run with this key, returns the stored response. Returns undefined for a
 * request without a key and for an anonymous client.
 */
async function claimIdempotencyKey(
  { idempotentExecution }: RequestContext,
  body: unknown,
): Promise<ClaimResult | undefined> {
  try {
    return await idempotentExecution.claimKey(body);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const { code, retryAfter } = error.extensions;
    const http = {
      status: HTTP_STATUS_BY_ERROR_CODE[String(code)],
      headers: headersWithRetryAfter(retryAfter),
    };
    throw new GraphQLError(error.message, { extensions: { ...error.extensions, http } });
  }
}

async function storeIdempotentResult(
  { claim }: Extract<ClaimResult, { claim: unknown }>,
  http: ResponseHead,
  result: FormattedExecutionResult,
): Promise<void> {
  if (claim.isResponseStored && !result.errors?.length) return;
  const isRetryable = result.errors?.some(({ extensions }) =>
    RETRYABLE_CODES.includes(String(extensions?.code)),
  );
  await (isRetryable
    ? claim.release()
    : claim.storeResponse({ status: http.status ?? 200, body: result }));
}

/** Sets status 503 and Retry-After if an overloaded server produced no data, so that clients can retry the operation. */
function setOverloadStatus(http: ResponseHead, { errors, data }: FormattedExecutionResult): void {
  const overloadError = errors?.find(
    ({ extensions }) =>
      extensions?.retryAfter !== undefined && hasTemporaryErrorCode({ extensions }),
  );
  if (!overloadError || Object.values(data ?? {}).some((value) => value !== null)) return;
  http.status = 503;
  http.headers.set('retry-after', String(overloadError.extensions!.retryAfter));
}

/**
 * Sets status 200 for rejected operations if the response is application/json: with another status, clients would ignore the body, because it could
 * come from an intermediary. For application/graphql-response+json, the status stays 400.
 * (https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes)
 */
function setStatusByMediaType(
  http: ResponseHead,
  { errors }: FormattedExecutionResult,
  acceptHeader: string | undefined,
): void {
  if (
    http.status !== 400 ||
    !REJECTED_OPERATION_CODES.includes(String(errors?.[0]?.extensions?.code))
  )
    return;
  if (negotiateMediaType(acceptHeader) === JSON_MEDIA_TYPE) http.status = 200;
}

/** Sets status 429 for an exhausted cost budget and 400 for an oversized result. */
function setExceededLimitStatus(http: ResponseHead, { errors }: FormattedExecutionResult): void {
  const { code, retryAfter } = errors?.[0]?.extensions ?? {};
  if (code === 'RESULT_TOO_LARGE') http.status = 400;
  if (code !== 'RATE_LIMITED') return;
  http.status = 429;
  http.headers.set('retry-after', String(retryAfter));
}

class SerializedBody {
  constructor(readonly text: string) {}
}

/** Serializes a result for Apollo. Returns the text of a response that the response plugin has already serialized. */
export const stringifyResult = ({ data, ...result }: FormattedExecutionResult): string =>
  data instanceof SerializedBody ? data.text : `${JSON.stringify({ ...result, data })}\n`;

/** Returns the response as JSON, or an error with status 400 if it exceeds the size limit. */
async function serializeResult(
  { errors, data, extensions }: FormattedExecutionResult,
  resolverContext: Context,
  maxResponseBytes: number,
  http: ResponseHead,
): Promise<string> {
  const result = { errors, data, extensions };
  const introspectionJson = errors || extensions ? undefined : cachedIntrospectionJson(data);
  const responseText = introspectionJson
    ? `{"data":${introspectionJson}}`
    : resolverContext.meter?.isLong
      ? await stringifyIncrementally(result, maxResponseBytes)
      : JSON.stringify(result);
  if (responseText !== undefined && Buffer.byteLength(responseText) <= maxResponseBytes)
    return responseText;
  http.status = 400;
  return JSON.stringify({ errors: [resultTooLargeError(maxResponseBytes)] });
}
