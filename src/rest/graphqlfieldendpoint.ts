/**
 * Handles REST endpoints whose response body is the value of one GraphQL field: actions of rows, and standalone endpoints such as searches. Query
 * parameters become the arguments of the field.
 */
import { isNonNullType } from 'graphql';
import type { ResponseBodyMetadata } from '../contract/metadata';
import { toQueryParameterName } from '../contract/casing';
import { runOperation } from './operations';
import { lastValueOf } from './dialect/querystring';
import type { GraphQLFieldEndpoint, ResultData } from './endpoints';
import { RestError } from './errors';
import type { RestResponse, RestRequest } from './request';

/** Handles a request for the value of a GraphQL field. `rowId` is the id of the row whose field is computed; absent for a standalone endpoint. */
export async function handleGraphQLFieldEndpoint(
  { metadata, field, operation }: GraphQLFieldEndpoint<ResponseBodyMetadata>,
  request: RestRequest,
  rowId?: string,
): Promise<RestResponse> {
  const requiredArguments = field.args.filter(({ type }) => isNonNullType(type));
  const argumentValues = Object.fromEntries(
    field.args.map(({ name }) => [name, lastValueOf(request.query, toQueryParameterName(name))]),
  );
  if (
    metadata.bodyWhenArgumentMissing !== undefined &&
    requiredArguments.some(({ name }) => !argumentValues[name])
  )
    return { status: 200, body: metadata.bodyWhenArgumentMissing };
  // Missing required arguments are passed as empty strings, so that the error for an unknown row (404) precedes the one for the argument (400).
  for (const { name } of requiredArguments) argumentValues[name] ??= '';
  try {
    const data = await runOperation(
      operation,
      request,
      rowId === undefined ? argumentValues : { self: rowId, ...argumentValues },
    );
    return {
      status: 200,
      body: responseBody(metadata, rowId === undefined ? data.result : data.row.action),
    };
  } catch (error) {
    if (!metadata.bodyWhenArgumentsInvalid || !(error instanceof RestError) || error.status !== 400)
      throw error;
    return { status: 200, body: { ...metadata.bodyWhenArgumentsInvalid, errors: error.body } };
  }
}

function responseBody(
  { wrapperKey, keyValueListKeys = [] }: ResponseBodyMetadata,
  value: ResultData,
): unknown {
  const body = keyValueListKeys.length ? { ...value } : value;
  for (const name of keyValueListKeys)
    body[name] = Object.fromEntries(
      body[name].map((entry: { key: string; value: unknown }) => [entry.key, entry.value]),
    );
  if (wrapperKey === undefined) return body;
  return body === null ? {} : { [wrapperKey]: body };
}
