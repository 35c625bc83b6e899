/** What is asked for: an operation in the address, or in a body of JSON. */
import type { Request } from 'express';
import { getOperationAST, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Context } from '../../core/context';
import type { Variables } from '../../core/operation/execute';
import { coerced } from '../../core/operation/variables';
import type { HttpExchange } from '../../exchange/exchange';
import { readDocument } from '../handler';
import type { TrustedDocuments } from '../trusted';
import { exportedList, type ExportedList } from './list';
import { Refused, refused } from './refusal';

export interface Asked {
  list: ExportedList;
  /** As they were sent. */
  variables: Variables;
  /** Of the file, without what tells its format. */
  name: string;
  withBom: boolean;
}

type Parameters = Record<string, unknown>;

const MAX_NAME = 100;

function objectOf(name: string, value: unknown): Parameters {
  const wrong = () => refused(`\`${name}\` must be an object of JSON.`, name);
  let given: unknown = value;
  if (typeof value === 'string' && value !== '')
    try {
      given = JSON.parse(value);
    } catch {
      throw wrong();
    }
  if (given === undefined || given === null || given === '') return {};
  if (typeof given !== 'object' || Array.isArray(given)) throw wrong();
  return given as Parameters;
}

function parametersOf(request: Request, search: URLSearchParams): Parameters {
  if (request.method !== 'POST') return Object.fromEntries(search);
  const body = request.body as unknown;
  if (!request.is('json') || body === null || typeof body !== 'object' || Array.isArray(body))
    throw refused('The body must be an object of JSON, with the Content-Type application/json.', undefined, 'BAD_REQUEST');
  return body as Parameters;
}

function isWanted(search: URLSearchParams, name: string): boolean {
  const value = search.get(name) ?? '0';
  if (!['0', '1'].includes(value)) throw refused(`\`${name}\` must be 0 or 1.`, name);
  return value === '1';
}

/** Throws a Refused. */
export function askedBy(request: Request, exchange: HttpExchange, schema: GraphQLSchema, trusted: TrustedDocuments): Asked {
  const context: Context = exchange.context;
  const search = new URL(request.url, 'http://localhost').searchParams;
  const withBom = isWanted(search, 'bom');
  const given = parametersOf(request, search);
  const { query, operationName, ...others } = resolved({ ...given, extensions: objectOf('extensions', given.extensions) }, trusted);
  const variables = objectOf('variables', others.variables);
  if (typeof query !== 'string') throw refused('Send the text of an operation as `query`, or the `id` of a stored one.', 'query');
  const document = readDocument(schema, query, context.spending);
  if (!('kind' in document)) throw new Refused(document.map(coded));
  const name = typeof operationName === 'string' && operationName !== '' ? operationName : undefined;
  const operation = getOperationAST(document, name);
  if (!operation) throw refused('Name the operation that is meant as `operationName`.', 'operationName', 'OPERATION_RESOLUTION_FAILURE');
  exchange.operation = operation.name?.value ?? null;
  const read = coerced(schema, operation, variables, !context.viewer);
  if (read.errors) throw new Refused(read.errors);
  const list = exportedList(schema, document, operation, read.values);
  return { list, variables, withBom, name: (operation.name?.value ?? list.name).slice(0, MAX_NAME) };
}

function resolved(parameters: Parameters, trusted: TrustedDocuments): Parameters {
  try {
    return trusted.resolve(parameters);
  } catch (error) {
    if (error instanceof GraphQLError) throw new Refused([error]);
    throw error;
  }
}

const coded = (error: GraphQLError): GraphQLError =>
  error.extensions.code === undefined
    ? new GraphQLError(error.message, {
        nodes: error.nodes,
        source: error.source,
        positions: error.positions,
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...error.extensions },
      })
    : error;
