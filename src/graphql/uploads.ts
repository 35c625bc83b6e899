/**
 * GraphQL operations with files, sent as multipart forms: `operations` is the usual JSON with null in the place of every file, `map` says
 * which part goes to which places (https://github.com/jaydenseric/graphql-multipart-request-spec).
 */
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import type { Config } from '../platform/config';
import { largeBodiesInTurn } from '../platform/bodylimit';
import { excessOf } from '../platform/jsonlimits';
import { refuse } from './handler';
import type { HttpExchange } from '../exchange/exchange';
import {
  limitsOfStrangers,
  MultipartError,
  readMultipart,
  TOO_MANY_PARTS,
  UploadedFile,
  type MultipartLimits,
  type Parts,
} from '../platform/multipart';

/** Either makes a browser ask first whether a page of another site may send the request; Apollo refuses one without. */
const PREFLIGHTED = ['apollo-require-preflight', 'x-apollo-operation-name'];

class WrongRequest extends Error {}

export function graphqlUploads(config: Config, exchangeOf: (request: IncomingMessage) => HttpExchange): RequestHandler {
  return async (request, response, next) => {
    if (request.method !== 'POST' || !request.is('multipart/form-data')) return next();
    if (config.graphqlCsrf && !PREFLIGHTED.some((name) => request.get(name))) {
      // Unread; Apollo says why.
      request.body = {};
      return next();
    }
    try {
      const exchange = exchangeOf(request);
      const limits = (await exchange.isKnown()) ? { ...config, sender: exchange.sender } : limitsOfStrangers(config);
      await largeBodiesInTurn(request, response, limits.sender);
      request.body = operationsOf(await readMultipart(request, response, limits));
    } catch (error) {
      if (error instanceof WrongRequest) return refuse(request, response, 400, 'BAD_REQUEST', error.message);
      if (!(error instanceof MultipartError)) throw error;
      const status = error.reason === 'body too large' || error.reason === 'too many parts' ? 413 : 400;
      return refuse(request, response, status, 'BAD_REQUEST', said(error, config));
    }
    next();
  };
}

function said({ reason, subject }: MultipartError, { maxUpload }: MultipartLimits): string {
  if (reason === 'boundary') return 'The multipart form has no boundary.';
  if (reason === 'charset') return `The charset of part ${JSON.stringify(subject)} is not known.`;
  if (reason === 'file too large') return `The file of part ${JSON.stringify(subject)} is larger than ${maxUpload} bytes.`;
  if (reason === 'too many parts') return TOO_MANY_PARTS;
  return 'The multipart form is too large.';
}

export function operationsOf(parts: Parts): Record<string, unknown> {
  const operations = objectOf(parts, 'operations');
  for (const [name, paths] of Object.entries(objectOf(parts, 'map'))) {
    const file = parts.get(name)?.at(-1);
    if (!(file instanceof UploadedFile)) throw new WrongRequest(`There is no file in part ${JSON.stringify(name)}.`);
    if (!Array.isArray(paths)) throw new WrongRequest('Every value of "map" must be a list of paths.');
    for (const path of paths) put(operations, String(path), file);
  }
  return operations;
}

function objectOf(parts: Parts, name: string): Record<string, unknown> {
  const text = parts.get(name)?.at(-1);
  const excess = typeof text === 'string' ? excessOf(text) : undefined;
  if (excess !== undefined) throw new WrongRequest(`The part "${name}" is refused: ${excess}.`);
  let value: unknown;
  try {
    value = JSON.parse(typeof text === 'string' ? text : '');
  } catch {
    // Said below.
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new WrongRequest(`The part "${name}" must be a JSON object.`);
  return value as Record<string, unknown>;
}

/** Only a null that was sent gives way to a file, so that a path can reach nothing else. */
function put(operations: Record<string, unknown>, path: string, file: UploadedFile): void {
  const wrong = () => new WrongRequest(`There is no null at ${JSON.stringify(path)} of "operations".`);
  const keys = path.split('.');
  const last = keys.pop()!;
  let place: unknown = operations;
  for (const key of keys) {
    if (place === null || typeof place !== 'object' || !Object.hasOwn(place, key)) throw wrong();
    place = (place as Record<string, unknown>)[key];
  }
  if (keys[0] !== 'variables' || place === null || typeof place !== 'object' || !Object.hasOwn(place, last)) throw wrong();
  if ((place as Record<string, unknown>)[last] !== null) throw wrong();
  (place as Record<string, unknown>)[last] = file;
}
