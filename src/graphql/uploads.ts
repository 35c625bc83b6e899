/**
 * File uploads by the GraphQL multipart request specification
 * (https://github.com/jaydenseric/graphql-multipart-request-spec): The form field `operations` is a
 * JSON object with null in place of each file. The form field `map` lists, for each file part, the
 * paths in `operations` where the file belongs.
 */
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Config } from '../shared/config';
import { awaitLargeBodySlot } from '../shared/body-limit';
import { unknownCharsetMessage } from '../shared/charsets';
import { describeExceededJsonLimit } from '../shared/json-limits';
import { CSRF_PREVENTION_HEADERS } from './apollo';
import { sendGraphQLError } from './http-errors';
import type { RequestContext } from '../request/request-context';
import {
  anonymousMultipartLimits,
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS_MESSAGE,
  UploadedFile,
  type MultipartLimits,
  type MultipartParts,
} from '../shared/multipart';

class InvalidUploadError extends Error {}

export function uploadMiddleware(
  config: Config,
  contextOf: (request: IncomingMessage) => RequestContext,
): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'POST' || !request.is('multipart/form-data')) return next();

    if (config.graphqlCsrf && !CSRF_PREVENTION_HEADERS.some((name) => request.get(name))) {
      // Without a CSRF header, Apollo will reject the request, so its body is not read.
      request.body = {};
      return next();
    }

    try {
      const { authentication } = contextOf(request);
      let limits = anonymousMultipartLimits(config);

      if (await authentication.isSignedIn()) {
        limits = { ...config, senderUserId: authentication.senderUserId };
      }

      await awaitLargeBodySlot(request, response, limits.senderUserId);
      request.body = insertUploadedFiles(await readMultipart(request, response, limits));
    } catch (error) {
      if (error instanceof InvalidUploadError) {
        return sendGraphQLError(request, response, 400, 'BAD_REQUEST', error.message);
      }

      if (!(error instanceof MultipartError)) throw error;
      const status =
        error.reason === 'body too large' || error.reason === 'too many parts' ? 413 : 400;

      return sendGraphQLError(
        request,
        response,
        status,
        'BAD_REQUEST',
        multipartErrorMessage(error, config),
      );
    }

    next();
  };
}

function multipartErrorMessage(
  { reason, subject, partMessage }: MultipartError,
  { maxUpload }: MultipartLimits,
): string {
  if (reason === 'boundary') return 'The multipart form has no boundary.';
  if (reason === 'form charset') return unknownCharsetMessage(subject!);

  if (partMessage !== undefined) return partMessage;

  if (reason === 'file too large') {
    return `The file of part ${JSON.stringify(subject)} is larger than ${maxUpload} bytes.`;
  }

  if (reason === 'too many parts') return TOO_MANY_PARTS_MESSAGE;

  return 'The multipart form is too large.';
}

export function insertUploadedFiles(parts: MultipartParts): Record<string, unknown> {
  const operations = parseJsonObjectPart(parts, 'operations');

  for (const [name, paths] of Object.entries(parseJsonObjectPart(parts, 'map'))) {
    const file = parts.get(name)?.at(-1);

    if (!(file instanceof UploadedFile)) {
      throw new InvalidUploadError(`There is no file in part ${JSON.stringify(name)}.`);
    }

    if (!Array.isArray(paths)) {
      throw new InvalidUploadError('Every value of "map" must be a list of paths.');
    }

    for (const path of paths) setFileAtPath(operations, String(path), file);
  }

  return operations;
}

function parseJsonObjectPart(parts: MultipartParts, name: string): Record<string, unknown> {
  const partValue = parts.get(name)?.at(-1);
  const json = typeof partValue === 'string' ? partValue : '';
  const exceededLimitMessage = describeExceededJsonLimit(json);

  if (exceededLimitMessage !== undefined) {
    throw new InvalidUploadError(`The part "${name}" is rejected: ${exceededLimitMessage}.`);
  }

  let value: unknown;

  try {
    value = JSON.parse(json);
  } catch {
    // Invalid JSON is reported below, like JSON that is not an object.
  }

  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new InvalidUploadError(`The part "${name}" must be a JSON object.`);
  }

  return value as Record<string, unknown>;
}

/** Puts a file in place of the null at a path. Other values cannot be overwritten. */
function setFileAtPath(
  operations: Record<string, unknown>,
  path: string,
  file: UploadedFile,
): void {
  const pathError = () =>
    new InvalidUploadError(`The value at ${JSON.stringify(path)} in "operations" must be null.`);
  const pathSegments = path.split('.');
  const lastSegment = pathSegments.pop()!;
  let container: unknown = operations;

  for (const segment of pathSegments) {
    if (container === null || typeof container !== 'object' || !Object.hasOwn(container, segment)) {
      throw pathError();
    }

    container = (container as Record<string, unknown>)[segment];
  }

  if (
    pathSegments[0] !== 'variables' ||
    container === null ||
    typeof container !== 'object' ||
    !Object.hasOwn(container, lastSegment)
  ) {
    throw pathError();
  }

  if ((container as Record<string, unknown>)[lastSegment] !== null) throw pathError();
  (container as Record<string, unknown>)[lastSegment] = file;
}
