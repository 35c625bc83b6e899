/**
 * Trusted documents: operations that the operator has put into a folder and clients name by an id. The files are those that clients' builds
 * make: the manifest of @apollo/generate-persisted-query-manifest, or Relay's map of ids to texts.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ConfigError, type Config } from '../platform/config';
import { shortened } from '../core/model/errors';
import { nestedTooDeep } from './bounds';
import { readDocument, refuse } from './handler';

type Parameters = Record<string, unknown>;
/** Of a file, as far as its writer has kept to it. */
type Manifest = Parameters & { operations?: readonly (Parameters | null)[] };

const FORMAT = 'apollo-persisted-query-manifest';

/** Where clients put the id: Apollo's links in the extension, Relay's and others' networks beside the variables. */
const idOf = ({ documentId, id, extensions }: Parameters): unknown =>
  documentId ?? id ?? (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null | undefined)?.persistedQuery?.sha256Hash;

const refused = (code: string, message: string) => new GraphQLError(message, { extensions: { code } });

const onlyTrusted = () =>
  refused('PERSISTED_QUERY_ONLY', 'This server runs only operations that are registered with it, named by their id.');

export class TrustedDocuments {
  private readonly texts = new Map<string, string>();
  private readonly known: Set<string>;
  private readonly only: boolean;

  /** Throws a ConfigError that names the file if a document in it would not run. */
  constructor({ persistedOperations: folder, persistedOnly }: Config, schema: GraphQLSchema) {
    this.only = persistedOnly;
    for (const file of folder === undefined ? [] : filesOf(folder))
      for (const [id, text] of operationsOf(file)) {
        const problem = this.texts.has(id) && this.texts.get(id) !== text ? 'it is another one elsewhere' : problemOf(text, schema);
        if (problem) throw new ConfigError(`PERSISTED_OPERATIONS: ${file}: operation ${JSON.stringify(id)}: ${problem}`);
        this.texts.set(id, text);
      }
    this.known = new Set(this.texts.values());
  }

  /** The parameters with the text in the place of an id that is known. Throws a GraphQLError for what must not run. */
  resolve(parameters: Parameters): Parameters {
    // A WebSocket's message must have a text, if only an empty one.
    const query = parameters.query || undefined;
    const id = idOf(parameters);
    const text = typeof id === 'string' ? this.texts.get(id) : undefined;
    if (text !== undefined) {
      if (query !== undefined && query !== text)
        throw refused('BAD_REQUEST', 'The text of the operation is not the one that is registered with its id.');
      const { persistedQuery: _known, ...extensions } = { ...(parameters.extensions as object | null) } as Parameters;
      return { ...parameters, query: text, extensions };
    }
    const tooDeep = typeof query === 'string' ? nestedTooDeep(query) : undefined;
    if (tooDeep) throw tooDeep;
    if (this.only && !(typeof query === 'string' && this.known.has(query))) throw onlyTrusted();
    // An unknown hash in the extension is an automatic persisted query, which is Apollo's business.
    if (query === undefined && typeof (parameters.documentId ?? parameters.id) === 'string')
      throw refused('PERSISTED_QUERY_NOT_FOUND', `There is no operation with the id ${JSON.stringify(shortened(String(id)))}.`);
    return parameters;
  }
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => join(folder, file));
  } catch (error) {
    throw new ConfigError(`PERSISTED_OPERATIONS: ${(error as Error).message}`);
  }
}

function operationsOf(file: string): [string, string][] {
  const wrong = (why: string) => new ConfigError(`PERSISTED_OPERATIONS: ${file}: ${why}`);
  let content: Manifest | null;
  try {
    content = JSON.parse(readFileSync(file, 'utf8')) as Manifest | null;
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const manifest = content?.format === FORMAT ? content : undefined;
  if (manifest && manifest.version !== 1) throw wrong(`version ${JSON.stringify(manifest.version)} of the manifest is unknown, 1 is known`);
  const found: [unknown, unknown][] = manifest
    ? (manifest.operations ?? []).map((operation) => [operation?.id, operation?.body])
    : Object.entries(content !== null && typeof content === 'object' && !Array.isArray(content) ? content : { '': null });
  if (found.some(([id, text]) => typeof id !== 'string' || typeof text !== 'string'))
    throw wrong(`must be a manifest with the format ${JSON.stringify(FORMAT)}, or an object with the text of each operation under its id`);
  return found as [string, string][];
}

function problemOf(text: string, schema: GraphQLSchema): string | undefined {
  const document = readDocument(schema, text);
  return 'kind' in document ? undefined : document[0]?.message;
}

/** Between the parsers of the body and Apollo. */
export function trustedDocuments(trusted: TrustedDocuments): RequestHandler {
  return (request, response, next) => {
    try {
      if (request.method === 'GET') {
        // Only what follows the question mark is read: not everything that express takes for a path is one for URL.
        const [path, ...query] = request.url.split('?');
        const parameters = new URLSearchParams(query.join('?'));
        const given = Object.fromEntries(parameters);
        const extensions = jsonOf(given.extensions);
        const { query: text, ...resolved } = trusted.resolve({ ...given, extensions });
        if (text !== given.query) {
          parameters.set('query', String(text));
          parameters.set('extensions', JSON.stringify(resolved.extensions));
          request.url = `${path}?${parameters.toString()}`;
        }
      } else if (request.body !== null && typeof request.body === 'object' && !Array.isArray(request.body))
        request.body = trusted.resolve(request.body);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return refuse(request, response, 400, String(error.extensions.code), error.message);
    }
    next();
  };
}

/** Undefined for what Apollo will refuse. */
function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
