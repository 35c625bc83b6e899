/** Sends what is asked, and tells what came of it: status, time, bytes, cost. */
import { getOperationAST, parse, type ExecutionResult } from 'graphql';
import { createClient } from 'graphql-sse';
import type { Fetcher } from '@graphiql/toolkit';
import { SCHEMA_PATH } from '../answer/link';

export interface Run {
  request: { query: string; variables?: Readonly<Record<string, unknown>>; operationName?: string | null };
  status: number;
  milliseconds: number;
  bytes: number;
  /** Where the server tells. */
  cost?: number;
  statements?: number;
}

/** There for a visitor who is signed in: the session gives queries its rights only together with this token. */
export const csrfToken = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content;

const ownHeaders: Record<string, string> = csrfToken === undefined ? {} : { 'X-CSRFToken': csrfToken };
/** As GraphiQL calls it. */
const INTROSPECTION = 'IntrospectionQuery';
const TYPES = { Accept: 'application/graphql-response+json, application/json;q=0.9', 'Content-Type': 'application/json' };

const number = (text: string | null, pattern: RegExp) => {
  const found = pattern.exec(text ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
};

function answerOf(text: string, status: number): ExecutionResult {
  try {
    return JSON.parse(text) as ExecutionResult;
  } catch {
    return { errors: [{ message: `The server answered ${status} and no JSON.` }] } as unknown as ExecutionResult;
  }
}

function isSubscription(query: string, operationName?: string | null): boolean {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    // The server says what is wrong with it.
    return false;
  }
}

/** `told` hears of every run but those that ask for the schema. */
export const fetcherFor =
  (told: (run: Run) => void): Fetcher =>
  async (request, options) => {
    const headers = { ...ownHeaders, ...(options?.headers as Record<string, string> | undefined) };
    // Subscriptions come as server-sent events, which take the headers of the pane as other operations do.
    if (isSubscription(request.query, request.operationName))
      return createClient({ url: '/graphql/stream', headers, retryAttempts: 0 }).iterate(request as { query: string });
    const init = { method: 'POST', body: JSON.stringify(request) };
    if (request.operationName === INTROSPECTION) {
      const file = await fetch(SCHEMA_PATH);
      if (file.ok) return { data: (await file.json()) as Record<string, unknown> };
    }
    const began = performance.now();
    const response = await fetch('/graphql', { ...init, headers: { ...TYPES, ...headers } });
    const body = await response.arrayBuffer();
    if (request.operationName !== INTROSPECTION)
      told({
        request,
        status: response.status,
        milliseconds: performance.now() - began,
        bytes: body.byteLength,
        cost: number(response.headers.get('RateLimit'), /;c=(\d+)/),
        statements: number(response.headers.get('Server-Timing'), /desc="(\d+) statements"/),
      });
    return answerOf(new TextDecoder().decode(body), response.status);
  };
