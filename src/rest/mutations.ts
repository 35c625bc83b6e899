/** Write requests: POST, PUT, PATCH and DELETE each run one GraphQL mutation. */
import { runOperation } from './operations';
import { coerceInput, type InputError } from './dialect/input';
import { WriteValidation } from './dialect/validation';
import type { ResourceEndpoint } from './endpoints';
import { notFoundError } from './errors';
import {
  preconditionFailedError,
  ifMatchVersions,
  UNMATCHABLE_VERSION,
  responseWithETag,
} from './preconditions';
import type { RestResponse, RestRequest } from './request';

/** Whether a mutation reports an error for one of its arguments: `id` for a missing row, `ifVersion` for a version mismatch. */
const hasArgumentError = (
  argument: 'id' | 'ifVersion',
  { errors }: { errors: readonly InputError[] },
): boolean => errors.some(({ path }) => path[0] === argument);

/**
 * Handles POST, PUT and PATCH. If the body cannot be coerced or the mutation reports errors, validates the whole request again, which determines the
 * REST error to throw.
 */
export async function handleWrite(
  endpoint: ResourceEndpoint,
  request: RestRequest,
  timeZone: string,
  id?: string,
): Promise<RestResponse> {
  const inputOptions = {
    isPartialBody: request.method === 'PATCH',
    isCreation: id === undefined,
    timeZone,
  };
  const validation = new WriteValidation(endpoint, request, inputOptions, id);
  const body = await validation.readBody();
  const { input, errors } = coerceInput(endpoint.fields, body, inputOptions);
  if (Object.keys(errors).length) await validation.requireValidRequest(body);
  const [operation, versionCondition] =
    id === undefined
      ? [endpoint.create!]
      : [endpoint.update!, await versionConditionOf(endpoint, request, id)];
  const { answer: payload } = await runOperation(operation, request, {
    id,
    input,
    ...versionCondition,
  });
  if (hasArgumentError('ifVersion', payload)) throw preconditionFailedError();
  if (hasArgumentError('id', payload)) {
    await validation.requireValidRequest(body);
    throw notFoundError();
  }
  if (payload.errors.length) await validation.requireValidRequest(body, payload.errors);
  return responseWithETag(endpoint, id === undefined ? 201 : 200, payload.row);
}

export async function handleDelete(
  endpoint: ResourceEndpoint,
  request: RestRequest,
  id: string,
): Promise<RestResponse> {
  const versionCondition = await versionConditionOf(endpoint, request, id);
  const { answer: payload } = await runOperation(endpoint.remove!, request, {
    id,
    ...versionCondition,
  });
  if (hasArgumentError('ifVersion', payload)) throw preconditionFailedError();
  if (hasArgumentError('id', payload)) throw notFoundError();
  return { status: 204 };
}

/**
 * Returns the mutation variable `ifVersion` (the row version that the client expects), from a posted form or from If-Match. If If-Match lists several
 * versions, the current version of the row is read, and used if it is listed. A later change of the row is still detected, because a version never recurs.
 */
async function versionConditionOf(
  { versionQuery, resource }: ResourceEndpoint,
  request: RestRequest,
  id: string,
): Promise<{ ifVersion?: string }> {
  const formVersion = request.form?.rowVersion;
  const acceptedVersions =
    versionQuery &&
    (formVersion === undefined ? ifMatchVersions(request.message.headers) : [formVersion]);
  if (!acceptedVersions) return {};
  if (acceptedVersions.length < 2) return { ifVersion: acceptedVersions[0] ?? UNMATCHABLE_VERSION };
  const { row } = await runOperation(versionQuery, request, { id });
  const currentVersion = row[resource.versionFieldName!] as string;
  return {
    ifVersion: acceptedVersions.includes(currentVersion) ? currentVersion : UNMATCHABLE_VERSION,
  };
}
