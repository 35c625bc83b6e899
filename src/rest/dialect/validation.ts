/**
 * Validates a write request. Errors are reported in the same order as by the reference service: first a parent row that does not exist or belongs to
 * another user (403), then an unknown row (404), then all invalid fields at once (400).
 */
import { toSnakeCase } from '../../contract/casing';
import { queryReferenceableIds } from '../operations';
import type { ResourceEndpoint } from '../endpoints';
import {
  notFoundError,
  inaccessibleParentError,
  validationErrorFromMessages,
  throwIfInvalid,
} from '../errors';
import type { RestRequest } from '../request';
import type { ParsedBody } from './body';
import {
  coerceInput,
  addSlowCheckErrors,
  referencedIdsOf,
  refersToInaccessibleParent,
  throwNotAnObject,
  bodyAsObject,
  type InputError,
  type InputOptions,
} from './input';

const NON_FIELD_ERRORS_KEY = 'non_field_errors';

export class WriteValidation {
  constructor(
    private readonly endpoint: ResourceEndpoint,
    private readonly request: RestRequest,
    private readonly inputOptions: InputOptions,
    /** Id of the row to update; undefined when creating one. */
    private readonly id: string | undefined,
  ) {}

  /**
   * Returns the request body. If it cannot be parsed or is not an object, first checks whether the row to update exists (404), then throws the error.
   * Omits the check if the unparsable body could contain the id of a parent row, which would have to be checked before.
   */
  async readBody(): Promise<ParsedBody> {
    const body = await this.request.readBody().catch(async (error) => {
      if (!this.endpoint.relations.some((field) => field.relation!.isOwned && !field.restReadOnly))
        await this.requireExistingRow();
      throw error;
    });
    if (bodyAsObject(body) !== null) return body;
    await this.requireExistingRow();
    return throwNotAnObject(body);
  }

  private async requireExistingRow(): Promise<void> {
    const { endpoint, request, id } = this;
    if (
      id !== undefined &&
      (await queryReferenceableIds(endpoint, request, { self: [id] })).self!.length === 0
    )
      throw notFoundError();
  }

  /** Throws an error if the request is invalid. `mutationErrors` are the validation errors of the mutation, if it has run. */
  async requireValidRequest(
    body: ParsedBody,
    mutationErrors?: readonly InputError[],
  ): Promise<void> {
    const { endpoint, request, id } = this;
    const { relations, fields } = endpoint;
    const referenceableIds = await queryReferenceableIds(endpoint, request, {
      ...referencedIdsOf(relations, body),
      ...(id !== undefined && { self: [id] }),
    });
    if (refersToInaccessibleParent(relations, body, referenceableIds))
      throw inaccessibleParentError();
    if (id !== undefined && referenceableIds.self!.length === 0) throw notFoundError();
    const { input, errors } = coerceInput(fields, body, this.inputOptions, referenceableIds);
    await addSlowCheckErrors(fields, input, errors, mutationErrors);
    throwIfInvalid(errors);
    const restKeyOf = (name: string) =>
      fields.find((field) => field.name === name)?.restKey ?? toSnakeCase(name);
    if (mutationErrors)
      throw validationErrorFromMessages(
        mutationErrors.map(({ path: [, name = NON_FIELD_ERRORS_KEY], message }) => [
          name,
          [message],
        ]),
        restKeyOf,
      );
  }
}
