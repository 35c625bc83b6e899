/** Sends the operations of GraphiQL, and reports the status, time, size and cost of each run. */
import { getOperationAST, OperationTypeNode, parse, type ExecutionResult } from 'graphql';
import { createClient } from 'graphql-sse';
import type { Fetcher } from '@graphiql/toolkit';
import { SCHEMA_FILE_PATH } from '../answer/share-link';
import { BASE_PATH } from './base-path';
import { viewStateStore, type RunReport } from './state';

const GRAPHQL_URL = `${BASE_PATH}/graphql`;

/**
 * CSRF token of a signed-in visitor. The session cookie authenticates requests only together with
 * it.
 */
export const csrfToken =
  document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;

const csrfHeaders: Record<string, string> =
  csrfToken === undefined ? {} : { 'X-CSRFToken': csrfToken };
const INTROSPECTION_OPERATION_NAME = 'IntrospectionQuery';
const MEDIA_TYPE_HEADERS = {
  Accept: 'application/graphql-response+json, application/json;q=0.9',
  'Content-Type': 'application/json',
};

const matchHeaderNumber = (text: string | null, pattern: RegExp) => {
  const digits = pattern.exec(text ?? '')?.[1];

  return digits === undefined ? undefined : Number(digits);
};

function parseResponse(text: string, status: number): ExecutionResult {
  try {
    return JSON.parse(text) as ExecutionResult;
  } catch {
    return {
      errors: [{ message: `The server returned status ${status} without a JSON body.` }],
    } as unknown as ExecutionResult;
  }
}

/** Response extensions of a dry run (see `docs/graphql.md`). */
export interface CostEstimate {
  cost: number;
  limit: number;

  /** Schema coordinate of the most expensive field, such as `ExerciseCategory.exercises`. */
  coordinate?: string;

  /** Schema coordinate of the argument whose reduction makes that field cheaper. */
  argument?: string;
}

/** Estimates the cost of an operation with a dry run, if it is valid. */
export async function estimateCost(
  request: RunReport['request'],
  editedHeaders: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Promise<CostEstimate | undefined> {
  const type = operationTypeOf(request.query, request.operationName);

  if (!type || type === OperationTypeNode.SUBSCRIPTION) return undefined;
  // With application/json, an invalid operation has status 200. Browsers would log other statuses
  // after each edit.
  const headers = {
    ...MEDIA_TYPE_HEADERS,
    Accept: 'application/json',
    ...csrfHeaders,
    ...editedHeaders,
  };
  const body = JSON.stringify({ ...request, extensions: { dryRun: true } });
  const response = await fetch(GRAPHQL_URL, { method: 'POST', headers, body, signal });
  const { extensions } = parseResponse(await response.text(), response.status);

  return typeof extensions?.cost === 'number' ? (extensions as unknown as CostEstimate) : undefined;
}

/** Sends an operation that is not a run of the user, with the headers of a run. */
export async function fetchOutsideOfRun(
  request: RunReport['request'],
  headers: RunReport['headers'],
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const response = await fetch(GRAPHQL_URL, {
    method: 'POST',
    headers: { ...headers },
    body: JSON.stringify(request),
    signal,
  });

  return parseResponse(await response.text(), response.status);
}

/** Type of the operation. The server reports syntax errors. */
function operationTypeOf(
  query: string,
  operationName?: string | null,
): OperationTypeNode | undefined {
  try {
    return getOperationAST(parse(query), operationName)?.operation;
  } catch {
    return undefined;
  }
}

/** Result of an abandoned run. GraphiQL would show any other result in the new tab. */
const neverSettlingPromise = () => new Promise<never>(() => undefined);

/**
 * Fetcher of GraphiQL. Queries and mutations are recorded as runs of the active tab, except for
 * introspection.
 */
export const fetcher: Fetcher = async (request, options) => {
  const headers = { ...csrfHeaders, ...(options?.headers as Record<string, string> | undefined) };

  // Subscriptions are received as server-sent events.
  if (operationTypeOf(request.query, request.operationName) === OperationTypeNode.SUBSCRIPTION) {
    return createClient({ url: `${GRAPHQL_URL}/stream`, headers, retryAttempts: 0 }).iterate(
      request as { query: string },
    );
  }

  const isIntrospection = request.operationName === INTROSPECTION_OPERATION_NAME;

  if (isIntrospection) {
    const schemaResponse = await fetch(BASE_PATH + SCHEMA_FILE_PATH);

    if (schemaResponse.ok) {
      return { data: (await schemaResponse.json()) as Record<string, unknown> };
    }
  }

  const run = isIntrospection ? undefined : viewStateStore.beginRun();
  const startTime = performance.now();

  try {
    const requestInit = {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { ...MEDIA_TYPE_HEADERS, ...headers },
    };
    const response = await fetch(GRAPHQL_URL, requestInit);
    const body = await response.arrayBuffer();

    if (run?.isAbandoned()) return neverSettlingPromise();
    run?.storeReport({
      request,
      headers: requestInit.headers,
      status: response.status,
      durationMs: performance.now() - startTime,
      responseBytes: body.byteLength,
      cost: matchHeaderNumber(response.headers.get('RateLimit'), /;c=(\d+)/),
      statementCount: matchHeaderNumber(
        response.headers.get('Server-Timing'),
        /desc="(\d+) statements"/,
      ),
    });

    return parseResponse(new TextDecoder().decode(body), response.status);
  } catch (error) {
    // Discards the network error of an abandoned run, which GraphiQL would show in another tab.
    if (run?.isAbandoned()) return neverSettlingPromise();
    throw error;
  }
};
