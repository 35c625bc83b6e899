/** Sends the operations of GraphiQL, and reports the status, time, size and cost of each run. */
import { getOperationAST, OperationTypeNode, parse, type ExecutionResult } from 'graphql';
import { createClient } from 'graphql-sse';
import type { Fetcher } from '@graphiql/toolkit';
import { SCHEMA_FILE_PATH } from '../answer/sharelink';
import { viewStateStore } from './state';

export interface RunReport {
  request: {
    query: string;
    variables?: Readonly<Record<string, unknown>>;
    operationName?: string | null;
  };
  status: number;
  durationMs: number;
  responseBytes: number;
  /** Charged cost of the request; absent if the server does not report it. */
  cost?: number;
  statementCount?: number;
}

/** CSRF token; present if the visitor is signed in. The session cookie authenticates requests only together with this token. */
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

/** `extensions` in the response to a dry run; see `docs/graphql.md`. */
export interface CostEstimate {
  cost: number;
  limit: number;
  /** Schema coordinate of the most expensive field, such as `ExerciseCategory.exercises`. */
  coordinate?: string;
  /** Schema coordinate of the argument to reduce so that the most expensive field costs less. */
  argument?: string;
}

/** Returns the estimated cost of an operation, without executing it; undefined if it is invalid or the server responds without a cost. */
export async function estimateCost(
  request: RunReport['request'],
  editedHeaders: Readonly<Record<string, string>> | undefined,
  signal: AbortSignal,
): Promise<CostEstimate | undefined> {
  const type = operationTypeOf(request.query, request.operationName);
  if (!type || type === OperationTypeNode.SUBSCRIPTION) return undefined;
  // If the media type is application/json, the response to an invalid operation has status 200. Browsers would log any other status after each edit.
  const headers = {
    ...MEDIA_TYPE_HEADERS,
    Accept: 'application/json',
    ...csrfHeaders,
    ...editedHeaders,
  };
  const body = JSON.stringify({ ...request, extensions: { dryRun: true } });
  const response = await fetch('/graphql', { method: 'POST', headers, body, signal });
  const { extensions } = parseResponse(await response.text(), response.status);
  return typeof extensions?.cost === 'number' ? (extensions as unknown as CostEstimate) : undefined;
}

/** Returns the type of the operation; undefined for queries that cannot be parsed, whose syntax errors the server reports. */
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

const neverSettlingPromise = () => new Promise<never>(() => undefined);

/** The fetcher of GraphiQL. Every query and mutation is a run of the active tab, except for introspection. */
export const fetcher: Fetcher = async (request, options) => {
  const headers = { ...csrfHeaders, ...(options?.headers as Record<string, string> | undefined) };
  // Subscriptions are received as server-sent events. Their requests also have the headers of the headers editor.
  if (operationTypeOf(request.query, request.operationName) === OperationTypeNode.SUBSCRIPTION)
    return createClient({ url: '/graphql/stream', headers, retryAttempts: 0 }).iterate(
      request as { query: string },
    );
  const isIntrospection = request.operationName === INTROSPECTION_OPERATION_NAME;
  if (isIntrospection) {
    const schemaResponse = await fetch(SCHEMA_FILE_PATH);
    if (schemaResponse.ok)
      return { data: (await schemaResponse.json()) as Record<string, unknown> };
  }
  const run = isIntrospection ? undefined : viewStateStore.beginRun();
  const startTime = performance.now();
  try {
    const requestInit = {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { ...MEDIA_TYPE_HEADERS, ...headers },
    };
    const response = await fetch('/graphql', requestInit);
    const body = await response.arrayBuffer();
    if (run?.isAbandoned()) return neverSettlingPromise();
    run?.storeReport({
      request,
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
    // The network error of an abandoned run is discarded: GraphiQL would show the error in the tab that is active by then.
    if (run?.isAbandoned()) return neverSettlingPromise();
    throw error;
  }
};
