/** Write requests: POST, PUT, PATCH and DELETE each run one GraphQL mutation. */
import { runOperation, queryReferenceableIds } from './operations';
import {
  coerceInput,
  type MutationError,
  addSlowCheckErrors,
  referencedIdsOf,
  refersToInaccessibleParent,
  rejectNonObject,
  bodyAsObject,
  type InputOptions,
} from './drf/input';
import type { ResourceEndpoint } from './endpoints';
import {
  notFoundError,
  inaccessibleParentError,
  validationErrorFromMessages,
  throwIfInvalidFields,
} from './errors';
import {
  preconditionFailedError,
  ifMatchVersions,
  UNMATCHABLE_VERSION,
  responseWithETag,
} from './preconditions';
import type { RestResponse, RestRequest } from './request';
import { toSnakeCase } from '../shared/casing';
import type { ParsedBody } from './drf/body';

const NON_FIELD_ERRORS_KEY = 'non_field_errors';

/**
 * Validates a write request. Reports errors in the order of the reference service: an inaccessible
 * parent row (403), an unknown row (404), then all invalid fields at once (400).
 */
class WriteValidation {
  constructor(
    private readonly endpoint: ResourceEndpoint,
    private readonly request: RestRequest,
    private readonly inputOptions: InputOptions,

    /** Id of the row to update; absent when a row is created. */
    private readonly id: string | undefined,
  ) {}

  /**
   * Reads the request body. A malformed body (400) is reported after an unknown row (404), unless
   * it could contain the id of a parent row, which would be checked even earlier (403).
   */
  async readBody(): Promise<ParsedBody> {
    const body = await this.request.readBody().catch(async (error) => {
      if (
        !this.endpoint.relations.some((field) => field.relation!.isOwned && !field.restReadOnly)
      ) {
        await this.requireExistingRow();
      }

      throw error;
    });

    if (bodyAsObject(body) !== null) return body;
    await this.requireExistingRow();
    return rejectNonObject(body);
  }

  private async requireExistingRow(): Promise<void> {
    const { endpoint, request, id } = this;

    if (
      id !== undefined &&
      (await queryReferenceableIds(endpoint, request, { self: [id] })).self!.length === 0
    ) {
      throw notFoundError();
    }
  }

  /**
   * Throws an error if the request is invalid. `mutationErrors` are the validation errors of a
   * mutation that has already run.
   */
  async requireValidRequest(
    body: ParsedBody,
    mutationErrors?: readonly MutationError[],
  ): Promise<void> {
    const { endpoint, request, id } = this;
    const { relations, fields } = endpoint;
    const referenceableIds = await queryReferenceableIds(endpoint, request, {
      ...referencedIdsOf(relations, body),
      ...(id !== undefined && { self: [id] }),
    });

    if (refersToInaccessibleParent(relations, body, referenceableIds)) {
      throw inaccessibleParentError();
    }

    if (id !== undefined && referenceableIds.self!.length === 0) throw notFoundError();
    const { input, errors } = coerceInput(fields, body, this.inputOptions, referenceableIds);

    await addSlowCheckErrors(fields, input, errors, mutationErrors);
    throwIfInvalidFields(errors);
    const restKeyOf = (name: string) =>
      fields.find((field) => field.name === name)?.restKey ?? toSnakeCase(name);

    if (mutationErrors) {
      throw validationErrorFromMessages(
        mutationErrors.map(({ path: [, name = NON_FIELD_ERRORS_KEY], message }) => [
          name,
          [message],
        ]),
        restKeyOf,
      );
    }
  }
}

/**
 * Whether a mutation reports an error for one of its arguments: `id` for a missing row, `ifVersion`
 * for a changed row.
 */
const hasArgumentError = (
  argument: 'id' | 'ifVersion',
  { errors }: { errors: readonly MutationError[] },
): boolean => errors.some(({ path }) => path[0] === argument);

/**
 * Handles POST, PUT and PATCH. If anything is invalid, validates the whole request again to find
 * the error that REST reports first.
 */
export async function handleWrite(
  endpoint: ResourceEndpoint,
  request: RestRequest,
  id?: string,
): Promise<RestResponse> {
  const inputOptions = {
    isPartialBody: request.method === 'PATCH',
    isCreation: id === undefined,
    isPageForm: request.form !== undefined,
    timeZone: request.context.timeZone,
  };
  const validation = new WriteValidation(endpoint, request, inputOptions, id);
  const body = await validation.readBody();
  const { input, errors } = coerceInput(endpoint.fields, body, inputOptions);

  if (Object.keys(errors).length) await validation.requireValidRequest(body);
  const isUpdate = id !== undefined;
  const versionCondition = isUpdate && (await versionConditionOf(endpoint, request, id));
  const operation = isUpdate ? endpoint.update! : endpoint.create!;
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

  return responseWithETag(endpoint, isUpdate ? 200 : 201, payload.row);
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
 * Chooses the row version that the mutation requires, from a posted form or If-Match. Of several
 * versions in If-Match, the current one is chosen; a later change is still detected, because a
 * version never recurs.
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
