/** Parses an export request: reads the operation from the query string or a JSON body, validates it and finds its list. */
import type { Request } from 'express';
import { getOperationAST, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Context } from '../../core/context';
import type { Variables } from '../../core/operation/executor';
import { coerceVariables } from '../../core/operation/variables';
import type { RequestContext } from '../../request/requestcontext';
import { DRY_RUN_HEADER, DRY_RUN_MESSAGE } from '../../contract/messages';
import { isDryRun } from '../dryrun';
import { parseClientDocument } from '../parseddocument';
import type { TrustedDocuments } from '../trusteddocuments';
import { findExportedList, type ExportedList } from './list';
import { ExportError, createExportError } from './errors';

export interface ExportRequest {
  list: ExportedList;
  /** Variables as sent by the client, not coerced. */
  variables: Variables;
  /** Name of the exported file without extension. */
  fileName: string;
  needsBom: boolean;
}

type ExportParameters = Record<string, unknown>;

const MAX_FILENAME_CHARACTERS = 100;

function parseObject(name: string, value: unknown): ExportParameters {
  const notAnObjectError = () => createExportError(`\`${name}\` must be a JSON object.`, name);
  let parsedValue: unknown = value;
  if (typeof value === 'string' && value !== '')
    try {
      parsedValue = JSON.parse(value);
    } catch {
      throw notAnObjectError();
    }
  if (parsedValue === undefined || parsedValue === null || parsedValue === '') return {};
  if (typeof parsedValue !== 'object' || Array.isArray(parsedValue)) throw notAnObjectError();
  return parsedValue as ExportParameters;
}

function readParameters(request: Request, queryParameters: URLSearchParams): ExportParameters {
  if (request.method !== 'POST') return Object.fromEntries(queryParameters);
  const body = request.body as unknown;
  if (!request.is('json') || body === null || typeof body !== 'object' || Array.isArray(body))
    throw createExportError(
      'The body must be a JSON object with the Content-Type application/json.',
      undefined,
      'BAD_REQUEST',
    );
  return body as ExportParameters;
}

function parseFlag(queryParameters: URLSearchParams, name: string): boolean {
  const value = queryParameters.get(name) ?? '0';
  if (!['0', '1'].includes(value)) throw createExportError(`\`${name}\` must be 0 or 1.`, name);
  return value === '1';
}

export async function parseExportRequest(
  request: Request,
  requestContext: RequestContext,
  schema: GraphQLSchema,
  trustedDocuments: TrustedDocuments,
): Promise<ExportRequest> {
  const context: Context = requestContext.resolverContext;
  const queryParameters = new URL(request.url, 'http://localhost').searchParams;
  const needsBom = parseFlag(queryParameters, 'bom');
  const parameters = readParameters(request, queryParameters);
  const extensions = parseObject('extensions', parameters.extensions);
  const { query, operationName, ...otherParameters } = trustedDocuments.resolveOperationId({
    ...parameters,
    extensions,
  });
  if (isDryRun(otherParameters.extensions, request.get(DRY_RUN_HEADER)))
    throw createExportError(DRY_RUN_MESSAGE, 'extensions', 'BAD_REQUEST');
  const variables = parseObject('variables', otherParameters.variables);
  if (typeof query !== 'string')
    throw createExportError(
      'Send the text of an operation as `query`, or the `id` of a stored one.',
      'query',
    );
  const document = await parseClientDocument(schema, query, requestContext);
  if (!('kind' in document)) throw new ExportError(document.map(withErrorCode));
  const name =
    typeof operationName === 'string' && operationName !== '' ? operationName : undefined;
  const operation = getOperationAST(document, name);
  if (!operation)
    throw createExportError(
      'Choose an operation with `operationName`.',
      'operationName',
      'OPERATION_RESOLUTION_FAILURE',
    );
  requestContext.operationName = operation.name?.value ?? null;
  const coercionResult = coerceVariables(schema, operation, variables, !context.viewer);
  if (coercionResult.errors) throw new ExportError(coercionResult.errors);
  const list = findExportedList(schema, document, operation, coercionResult.values);
  return {
    list,
    variables,
    needsBom,
    fileName: (operation.name?.value ?? list.name).slice(0, MAX_FILENAME_CHARACTERS),
  };
}

const withErrorCode = (error: GraphQLError): GraphQLError =>
  error.extensions.code === undefined
    ? new GraphQLError(error.message, {
        nodes: error.nodes,
        source: error.source,
        positions: error.positions,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...error.extensions },
      })
    : error;
