/** Validates a write request in the error order of wger: foreign parent rows (403), then the row itself (404), then all fields at once (400). */
import { snake } from '../../contract/casing';
import { lookup } from '../asking';
import type { Endpoint } from '../endpoints';
import { notFound, notYours, ofFields, refuse } from '../errors';
import type { Request } from '../request';
import type { Body } from './body';
import { inputOf, inspect, namedIds, namesForeignParent, notAnObject, objectOf, type InputError, type Reading } from './input';

const NON_FIELD_ERRORS = 'non_field_errors';

export class Validation {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly request: Request,
    private readonly inputOptions: Reading,
    /** Id of the row to update; undefined when creating one. */
    private readonly id: string | undefined,
  ) {}

  /** Returns the body, which must be an object. An unknown row is reported first, unless the body is malformed and could name a parent row. */
  async readObject(): Promise<Body> {
    const body = await this.request.body().catch(async (error) => {
      if (!this.endpoint.relations.some((field) => field.relation!.owned && !field.restReadOnly)) await this.requireRow();
      throw error;
    });
    if (objectOf(body) !== null) return body;
    await this.requireRow();
    return notAnObject(body);
  }

  private async requireRow(): Promise<void> {
    const { endpoint, request, id } = this;
    if (id !== undefined && (await lookup(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
  }

  /** Throws the first kind of error that applies. `mutationErrors` are the validation errors of the mutation, if it has run. */
  async rejectInvalid(body: Body, mutationErrors?: readonly InputError[]): Promise<void> {
    const { endpoint, request, id } = this;
    const { relations, fields } = endpoint;
    const knownIds = await lookup(endpoint, request, { ...namedIds(relations, body), ...(id !== undefined && { self: [id] }) });
    if (namesForeignParent(relations, body, knownIds)) throw notYours();
    if (id !== undefined && knownIds.self!.length === 0) throw notFound();
    const { input, errors } = inputOf(fields, body, this.inputOptions, knownIds);
    await inspect(fields, input, errors, mutationErrors);
    refuse(errors);
    const rename = (name: string) => fields.find((field) => field.name === name)?.rest ?? snake(name);
    if (mutationErrors)
      throw ofFields(
        mutationErrors.map(({ path: [, name = NON_FIELD_ERRORS], message }) => [name, [message]]),
        rename,
      );
  }
}
