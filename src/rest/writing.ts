/** POST, PUT, PATCH and DELETE, each as one mutation. */
import type { FieldFact } from '../contract/facts';
import { lookup, run } from './asking';
import type { Endpoint } from './endpoints';
import { invalid, notFound, notYours, ofFieldErrors, RestError } from './errors';
import type { Body } from './dialect/body';
import {
  inputOf,
  inspect,
  namedIds,
  namesForeignParent,
  notAnObject,
  objectOf,
  type Errors,
  type FieldError,
  type Reading,
} from './dialect/input';
import { snake } from '../contract/casing';
import { failed, meantBy, NO_VERSION, tagged } from './preconditions';
import type { Answer, Request } from './request';

const refuse = (errors: Errors): void => {
  if (Object.keys(errors).length) throw invalid(errors);
};

/** The REST key of a field. */
const renaming = (fields: readonly FieldFact[]) => (name: string) => fields.find((field) => field.name === name)?.rest ?? snake(name);

/**
 * POST, PUT and PATCH. The mutation alone decides. What it refuses, and what it cannot be asked for, is looked up and told in REST's words and
 * order: parents first (403), then the row (404), then all fields at once (400).
 */
export async function write(endpoint: Endpoint, request: Request, timeZone: string, id?: string): Promise<Answer> {
  const { fields } = endpoint;
  const reading = { partial: request.method === 'PATCH', creating: id === undefined, timeZone };
  const body = await bodyOf(endpoint, request, id);
  const { input, errors } = inputOf(fields, body, reading);
  if (Object.keys(errors).length) refuse(await mistakes(endpoint, request, body, reading, id));
  const meant = id === undefined ? {} : await condition(endpoint, request, id);
  const operation = id === undefined ? endpoint.create! : endpoint.update!;
  const rename = renaming(fields);
  const { answer } = await run(operation, request, { id, input, ...meant }, rename).catch(async (error) => {
    if (error instanceof RestError && error.status === 404) refuse(await mistakes(endpoint, request, body, reading, id));
    throw error;
  });
  if (answer.conflict) throw failed();
  const found = answer.fieldErrors as readonly FieldError[];
  if (found.length) {
    refuse(await mistakes(endpoint, request, body, reading, id, found));
    throw ofFieldErrors(found, rename);
  }
  return tagged(endpoint, id === undefined ? 201 : 200, answer.row);
}

export async function remove(endpoint: Endpoint, request: Request, id: string): Promise<Answer> {
  const meant = await condition(endpoint, request, id);
  const { answer } = await run(endpoint.remove!, request, { id, ...meant });
  if (answer.conflict) throw failed();
  return { status: 204 };
}

/** A body that is an object. Where a parent may be named it is looked at before the row, elsewhere after it. */
async function bodyOf(endpoint: Endpoint, request: Request, id: string | undefined): Promise<Body> {
  const body = await request.body().catch(async (error) => {
    if (!endpoint.relations.some((field) => field.relation!.owned && !field.restReadOnly)) await demandRow(endpoint, request, id);
    throw error;
  });
  if (objectOf(body) !== null) return body;
  await demandRow(endpoint, request, id);
  return notAnObject(body);
}

async function demandRow(endpoint: Endpoint, request: Request, id: string | undefined): Promise<void> {
  if (id !== undefined && (await lookup(endpoint, request, { self: [id] })).self!.length === 0) throw notFound();
}

/** All that is wrong with the values. `found` is what the mutation has said of them, if it was asked. */
async function mistakes(
  endpoint: Endpoint,
  request: Request,
  body: Body,
  reading: Reading,
  id: string | undefined,
  found?: readonly FieldError[],
): Promise<Errors> {
  const { relations, fields } = endpoint;
  const known = await lookup(endpoint, request, { ...namedIds(relations, body), ...(id !== undefined && { self: [id] }) });
  if (namesForeignParent(relations, body, known)) throw notYours();
  if (id !== undefined && known.self!.length === 0) throw notFound();
  const { input, errors } = inputOf(fields, body, reading, known);
  await inspect(fields, input, errors, found);
  return errors;
}

/** The version that the row must have, as a variable, if the request means one. A version never comes again, so of several the present one decides. */
async function condition({ version, resource }: Endpoint, request: Request, id: string): Promise<{ ifVersion?: string }> {
  const meant = version && meantBy(request.message.headers);
  if (!meant) return {};
  if (meant.length < 2) return { ifVersion: meant[0] ?? NO_VERSION };
  const { row } = await run(version, request, { id });
  const present = row[resource.version!] as string;
  return { ifVersion: meant.includes(present) ? present : NO_VERSION };
}
