/** What is wrong with a body, in REST's words and order: parents first (403), then the row (404), then all fields at once (400). */
import { snake } from '../../contract/casing';
import { lookup } from '../asking';
import type { Endpoint } from '../endpoints';
import { notFound, notYours, ofFields, refuse } from '../errors';
import type { Request } from '../request';
import type { Body } from './body';
import { inputOf, inspect, namedIds, namesForeignParent, notAnObject, objectOf, type InputError, type Reading } from './input';

/** Stands for the row as a whole. */
const WHOLE = 'non_field_errors';

export class Validation {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly request: Request,
    private readonly reading: Reading,
    /** Of a row that is changed. */
    private readonly id: string | undefined,
  ) {}

  /** A body that is an object. Where a parent may be named it is looked at before the row, elsewhere after it. */
  async body(): Promise<Body> {
    const body = await this.request.body().catch(async (error) => {
      if (!this.endpoint.relations.some((field) => field.relation!.owned && !field.restReadOnly)) await this.demandRow();
      throw error;
    });
    if (objectOf(body) !== null) return body;
    await this.demandRow();
    return notAnObject(body);
  }

  private async demandRow(): Promise<void> {
    const { endpoint, request, id } = this;
    if (id !== undefined && (await lookup(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
  }

  /** Throws all that is wrong with the values. `found` is what the mutation has said of them, if it was asked. */
  async refuse(body: Body, found?: readonly InputError[]): Promise<void> {
    const { endpoint, request, id } = this;
    const { relations, fields } = endpoint;
    const known = await lookup(endpoint, request, { ...namedIds(relations, body), ...(id !== undefined && { self: [id] }) });
    if (namesForeignParent(relations, body, known)) throw notYours();
    if (id !== undefined && known.self!.length === 0) throw notFound();
    const { input, errors } = inputOf(fields, body, this.reading, known);
    await inspect(fields, input, errors, found);
    refuse(errors);
    const rename = (name: string) => fields.find((field) => field.name === name)?.rest ?? snake(name);
    if (found)
      throw ofFields(
        found.map(({ path: [, name = WHOLE], message }) => [name, [message]]),
        rename,
      );
  }
}
