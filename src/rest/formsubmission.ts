/**
 * Submission of an HTML form with a single-use key: a repeated submission receives the response to the first one. Unlike an API client, a browser
 * does not retry by itself and shows only the last response. A second click on a button must therefore wait for the response to the first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { GraphQLError } from 'graphql';
import { RestError, restErrorFromGraphQL } from './errors';
import type { RestContext, RestRequest, RestResponse } from './request';

const POLL_INTERVAL_MS = 100;
const MAX_WAIT_MS = 10_000;
/**
 * HTTP statuses with which a single-use key is rejected: its first request is still running or the response to it was lost (409), or the key was used
 * for another request (422).
 */
const KEY_REJECTION_STATUSES = [409, 422];

const alreadySubmittedError = () =>
  new RestError(409, {
    detail:
      'This form has been submitted before. Check what was saved then. Submit it again to save these values as well.',
  });

/** Runs `handle` once per single-use key of a form. `handle` returns REST errors instead of throwing them. */
export async function handleFormSubmissionOnce(
  request: RestRequest,
  idempotentExecution: RestContext['idempotentExecution'],
  options: { formIdempotencyKey: string; onlyWritesRows: boolean },
  handle: () => Promise<RestResponse>,
): Promise<RestResponse> {
  const submission = [request.method, (await request.readBody()).data];
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await idempotentExecution.runOnce(submission, handle, options);
    } catch (error) {
      const restError = error instanceof GraphQLError ? restErrorFromGraphQL(error) : undefined;
      if (!restError || !KEY_REJECTION_STATUSES.includes(restError.status)) throw error;
      // If the error has no Retry-After, waiting is pointless: the form's key was used for other values, or the response to its first submission was lost.
      if (restError.headers['Retry-After'] === undefined) throw alreadySubmittedError();
      if (performance.now() > deadline) throw error;
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
