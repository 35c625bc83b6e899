/** Validates a write request in the error order of wger: foreign parent rows (403), then the row itself (404), then all fields at once (400). */
import { toSnakeCase } from '../../contract/casing';
import { lookupKnownIds } from '../operations';
import type { Endpoint } from '../endpoints';
import { notFound, foreignParent, validationErrorFromMessages, throwIfInvalid } from '../errors';
import type { RestRequest } from '../request';
import type { ParsedBody } from './body';
import {
  coerceInput,
  addInspectionErrors,
  referencedIdsOf,
  refersToForeignParent,
  throwNotAnObject,
  bodyObject,
  type InputError,
  type InputOptions,
} from './input';

const NON_FIELD_ERRORS = 'non_field_errors';

export class WriteValidation {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly request: RestRequest,
    private readonly inputOptions: InputOptions,
    /** Id of the row to update; undefined when creating one. */
    private readonly id: string | undefined,
  ) {}

  /** Returns the body, which must be an object. Reports an unknown row first, unless a body that may name a parent row cannot be parsed. */
  async readObject(): Promise<ParsedBody> {
    const body = await this.request.body().catch(async (error) => {
      if (!this.endpoint.relations.some((field) => field.relation!.owned && !field.restReadOnly)) await this.requireRow();
      throw error;
    });
    if (bodyObject(body) !== null) return body;
    await this.requireRow();
    return throwNotAnObject(body);
  }

  private async requireRow(): Promise<void> {
    const { endpoint, request, id } = this;
    if (id !== undefined && (await lookupKnownIds(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
  }

  /** Throws the first kind of error that applies, if any. `mutationErrors` are the validation errors of the mutation, if it has run. */
  async rejectInvalid(body: ParsedBody, mutationErrors?: readonly InputError[]): Promise<void> {
    const { endpoint, request, id } = this;
    const { relations, fields } = endpoint;
    const knownIds = await lookupKnownIds(endpoint, request, {
      ...referencedIdsOf(relations, body),
      ...(id !== undefined && { self: [id] }),
    });
    if (refersToForeignParent(relations, body, knownIds)) throw foreignParent();
    if (id !== undefined && knownIds.self!.length === 0) throw notFound();
    const { input, errors } = coerceInput(fields, body, this.inputOptions, knownIds);
    await addInspectionErrors(fields, input, errors, mutationErrors);
    throwIfInvalid(errors);
    const rename = (name: string) => fields.find((field) => field.name === name)?.rest ?? toSnakeCase(name);
    if (mutationErrors)
      throw validationErrorFromMessages(
        mutationErrors.map(({ path: [, name = NON_FIELD_ERRORS], message }) => [name, [message]]),
        rename,
      );
  }
}
