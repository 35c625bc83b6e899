/**
 * Trusted documents (persisted operations): the operator puts client build manifests into a folder,
 * and clients send operation ids instead of text. Manifests have the format of Apollo, or that of
 * Relay: a JSON object that maps ids to texts.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { ErrorCode } from '../shared/error-codes';
import { ConfigError, type Config } from '../shared/config';
import { truncateInput } from '../engine/declare/errors';
import { findTextLimitError, parseAndValidateDocument } from './document-limits';
import { sendGraphQLError } from './http-errors';

type RequestParameters = Record<string, unknown>;
type OperationManifest = RequestParameters & { operations?: readonly (RequestParameters | null)[] };

const APOLLO_MANIFEST_FORMAT = 'apollo-persisted-query-manifest';

/**
 * Reads the operation id of a request. Apollo's links send it in `extensions`, Relay and others as
 * a parameter.
 */
const operationIdOf = ({ documentId, id, extensions }: RequestParameters): unknown =>
  documentId ??
  id ??
  (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null | undefined)?.persistedQuery
    ?.sha256Hash;

const operationError = (code: ErrorCode, message: string) =>
  new GraphQLError(message, { extensions: { code } });

const untrustedOperationError = () =>
  operationError(
    'PERSISTED_QUERY_ONLY',
    'This server runs only registered operations, identified by their id.',
  );

export class TrustedDocuments {
  private readonly documentTextById = new Map<string, string>();
  private readonly trustedDocumentTexts: Set<string>;
  private readonly acceptsOnlyTrustedDocuments: boolean;

  /**
   * Loads all manifests. Throws a ConfigError with the name of the file if an operation is invalid.
   */
  constructor({ persistedOperations: folder, persistedOnly }: Config, schema: GraphQLSchema) {
    this.acceptsOnlyTrustedDocuments = persistedOnly;

    for (const file of folder === undefined ? [] : manifestPathsOf(folder)) {
      for (const [id, text] of readManifestOperations(file)) {
        const problem = this.findConflict(id, text) ?? documentErrorMessage(text, schema);

        if (problem) {
          throw new ConfigError(
            `PERSISTED_OPERATIONS: ${file}: operation ${JSON.stringify(id)}: ${problem}`,
          );
        }

        this.documentTextById.set(id, text);
      }
    }

    this.trustedDocumentTexts = new Set(this.documentTextById.values());
  }

  private findConflict(id: string, text: string): string | undefined {
    const otherText = this.documentTextById.get(id);

    if (otherText === undefined || otherText === text) return undefined;

    return 'another manifest has the same id with a different text';
  }

  /** Replaces a known operation id by its text. Throws for operations that must not run. */
  resolveOperationId(parameters: RequestParameters): RequestParameters {
    // An empty document counts as missing, because WebSocket messages must contain a document even
    // if they contain an operation id.
    const query = parameters.query || undefined;
    const id = operationIdOf(parameters);
    const documentText = typeof id === 'string' ? this.documentTextById.get(id) : undefined;

    if (documentText !== undefined) {
      if (query !== undefined && query !== documentText) {
        throw operationError(
          'BAD_REQUEST',
          'The text of the operation differs from the one registered under its id.',
        );
      }

      const { persistedQuery: _persistedQuery, ...extensions } = {
        ...(parameters.extensions as object | null),
      } as RequestParameters;

      return { ...parameters, query: documentText, extensions };
    }

    checkPersistedQuery(parameters.extensions, parameters.query);
    const textError = typeof query === 'string' ? findTextLimitError(query) : undefined;

    if (textError) throw textError;

    const isTrusted = typeof query === 'string' && this.trustedDocumentTexts.has(query);

    if (this.acceptsOnlyTrustedDocuments && !isTrusted) throw untrustedOperationError();

    // An unknown hash in `extensions` belongs to an automatic persisted query, which Apollo
    // handles.
    if (query === undefined && typeof (parameters.documentId ?? parameters.id) === 'string') {
      throw operationError(
        'PERSISTED_QUERY_NOT_FOUND',
        `There is no operation with the id ${JSON.stringify(truncateInput(String(id)))}.`,
      );
    }

    return parameters;
  }
}

/**
 * Validates the extension `persistedQuery` of an automatic persisted query. If it is invalid,
 * Apollo would report an internal error.
 */
function checkPersistedQuery(extensions: unknown, query: unknown): void {
  const persistedQuery = (extensions as { persistedQuery?: unknown } | null | undefined)
    ?.persistedQuery;

  if (persistedQuery === undefined || persistedQuery === null) return;
  const { version, sha256Hash } = persistedQuery as RequestParameters;

  if (version !== 1) {
    throw operationError(
      'PERSISTED_QUERY_INVALID',
      '`extensions.persistedQuery.version` must be 1.',
    );
  }

  if (
    typeof query === 'string' &&
    sha256Hash !== createHash('sha256').update(query).digest('hex')
  ) {
    throw operationError(
      'PERSISTED_QUERY_INVALID',
      '`extensions.persistedQuery.sha256Hash` is not the SHA-256 hash of the query.',
    );
  }
}

function manifestPathsOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => join(folder, file));
  } catch (error) {
    throw new ConfigError(`PERSISTED_OPERATIONS: ${(error as Error).message}`);
  }
}

function readManifestOperations(file: string): [string, string][] {
  const fileError = (reason: string) => new ConfigError(`PERSISTED_OPERATIONS: ${file}: ${reason}`);
  let content: OperationManifest | null;

  try {
    content = JSON.parse(readFileSync(file, 'utf8')) as OperationManifest | null;
  } catch (error) {
    throw fileError((error as Error).message);
  }

  const manifest = content?.format === APOLLO_MANIFEST_FORMAT ? content : undefined;

  if (manifest && manifest.version !== 1) {
    throw fileError(
      `version ${JSON.stringify(manifest.version)} of the manifest is unknown, 1 is known`,
    );
  }

  let entries: [unknown, unknown][] | undefined;

  if (manifest) {
    entries = (manifest.operations ?? []).map((operation) => [operation?.id, operation?.body]);
  } else if (content !== null && typeof content === 'object' && !Array.isArray(content)) {
    entries = Object.entries(content);
  }

  const isValidEntry = ([id, text]: [unknown, unknown]) =>
    typeof id === 'string' && typeof text === 'string';

  if (!entries?.every(isValidEntry)) {
    throw fileError(
      `must be a manifest with the format ${JSON.stringify(APOLLO_MANIFEST_FORMAT)}, or an object with the text of each operation under its id`,
    );
  }

  return entries as [string, string][];
}

function documentErrorMessage(text: string, schema: GraphQLSchema): string | undefined {
  const document = parseAndValidateDocument(schema, text);

  return 'kind' in document ? undefined : document[0]?.message;
}

export function trustedDocumentsMiddleware(trustedDocuments: TrustedDocuments): RequestHandler {
  return (request, response, next) => {
    try {
      if (request.method === 'GET') {
        // `new URL` would throw for some paths that Express accepts, so only the query is parsed.
        const [path, ...query] = request.url.split('?');
        const parameters = new URLSearchParams(query.join('?'));
        const queryParameters = Object.fromEntries(parameters);
        const extensions = parseJson(queryParameters.extensions);
        const { query: text, ...resolvedParameters } = trustedDocuments.resolveOperationId({
          ...queryParameters,
          extensions,
        });

        if (text !== queryParameters.query) {
          parameters.set('query', String(text));
          parameters.set('extensions', JSON.stringify(resolvedParameters.extensions));
          request.url = `${path}?${parameters.toString()}`;
        }
      } else if (
        request.body !== null &&
        typeof request.body === 'object' &&
        !Array.isArray(request.body)
      ) {
        request.body = trustedDocuments.resolveOperationId(request.body);
      }
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;

      return sendGraphQLError(request, response, 400, String(error.extensions.code), error.message);
    }

    next();
  };
}

/**
 * Parses a JSON text. Invalid JSON becomes undefined; Apollo later rejects the request because of
 * it.
 */
function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
