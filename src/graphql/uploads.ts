/**
 * File uploads by the GraphQL multipart request specification: the form field `operations` is JSON with null for each file, and `map` lists the paths
 * of each file part (https://github.com/jaydenseric/graphql-multipart-request-spec).
 */
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Config } from '../platform/config';
import { awaitLargeBodySlot } from '../platform/bodylimit';
import { findExceededLimit } from '../platform/jsonlimits';
import { CSRF_PREVENTION_HEADERS } from './apollo';
import { sendGraphQLError } from './httperrors';
import type { RequestContext } from '../request/requestcontext';
import {
  anonymousMultipartLimits,
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS_MESSAGE,
  UploadedFile,
  type MultipartLimits,
  type MultipartParts,
} from '../platform/multipart';

class InvalidUploadError extends Error {}

export function uploadMiddleware(config: Config, contextOf: (request: IncomingMessage) => RequestContext): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'POST' || !request.is('multipart/form-data')) return next();
    if (config.graphqlCsrf && !CSRF_PREVENTION_HEADERS.some((name) => request.get(name))) {
      // If the CSRF header is missing, the body is not read, because Apollo will reject the request.
      request.body = {};
      return next();
    }
    try {
      const { authentication } = contextOf(request);
      const limits = (await authentication.isSignedIn())
        ? { ...config, senderId: authentication.senderId }
        : anonymousMultipartLimits(config);
      await awaitLargeBodySlot(request, response, limits.senderId);
      request.body = assembleOperations(await readMultipart(request, response, limits));
    } catch (error) {
      if (error instanceof InvalidUploadError) return sendGraphQLError(request, response, 400, 'BAD_REQUEST', error.message);
      if (!(error instanceof MultipartError)) throw error;
      const status = error.reason === 'body too large' || error.reason === 'too many parts' ? 413 : 400;
      return sendGraphQLError(request, response, status, 'BAD_REQUEST', multipartMessage(error, config));
    }
    next();
  };
}

function multipartMessage({ reason, subject }: MultipartError, { maxUpload }: MultipartLimits): string {
  if (reason === 'boundary') return 'The multipart form has no boundary.';
  if (reason === 'charset') return `The charset of part ${JSON.stringify(subject)} is unknown.`;
  if (reason === 'file too large') return `The file of part ${JSON.stringify(subject)} is larger than ${maxUpload} bytes.`;
  if (reason === 'too many parts') return TOO_MANY_PARTS_MESSAGE;
  return 'The multipart form is too large.';
}

export function assembleOperations(parts: MultipartParts): Record<string, unknown> {
  const operations = parseObjectPart(parts, 'operations');
  for (const [name, paths] of Object.entries(parseObjectPart(parts, 'map'))) {
    const file = parts.get(name)?.at(-1);
    if (!(file instanceof UploadedFile)) throw new InvalidUploadError(`There is no file in part ${JSON.stringify(name)}.`);
    if (!Array.isArray(paths)) throw new InvalidUploadError('Every value of "map" must be a list of paths.');
    for (const path of paths) setFile(operations, String(path), file);
  }
  return operations;
}

function parseObjectPart(parts: MultipartParts, name: string): Record<string, unknown> {
  const text = parts.get(name)?.at(-1);
  const exceededLimit = typeof text === 'string' ? findExceededLimit(text) : undefined;
  if (exceededLimit !== undefined) throw new InvalidUploadError(`The part "${name}" is rejected: ${exceededLimit}.`);
  let value: unknown;
  try {
    value = JSON.parse(typeof text === 'string' ? text : '');
  } catch {
    // Invalid JSON is reported below, like JSON that is not an object.
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new InvalidUploadError(`The part "${name}" must be a JSON object.`);
  return value as Record<string, unknown>;
}

/** Replaces the null at a path with a file. Rejects paths of other values, so that a file cannot overwrite them. */
function setFile(operations: Record<string, unknown>, path: string, file: UploadedFile): void {
  const pathError = () => new InvalidUploadError(`The value at ${JSON.stringify(path)} in "operations" must be null.`);
  const keys = path.split('.');
  const last = keys.pop()!;
  let container: unknown = operations;
  for (const key of keys) {
    if (container === null || typeof container !== 'object' || !Object.hasOwn(container, key)) throw pathError();
    container = (container as Record<string, unknown>)[key];
  }
  if (keys[0] !== 'variables' || container === null || typeof container !== 'object' || !Object.hasOwn(container, last)) throw pathError();
  if ((container as Record<string, unknown>)[last] !== null) throw pathError();
  (container as Record<string, unknown>)[last] = file;
}
