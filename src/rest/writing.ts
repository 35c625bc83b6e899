/** POST, PUT, PATCH and DELETE, each as one mutation. */
import { run } from './asking';
import { inputOf, type InputError } from './dialect/input';
import { Validation } from './dialect/validation';
import type { Endpoint } from './endpoints';
import { notFound } from './errors';
import { failed, meantBy, NO_VERSION, tagged } from './preconditions';
import type { Answer, Request } from './request';

/** Whether a mutation reports an error of this argument: an `id` that is not found, or an `ifVersion` that does not match. */
const reports = (argument: 'id' | 'ifVersion', { errors }: { errors: readonly InputError[] }): boolean =>
  errors.some(({ path }) => path[0] === argument);

/** POST, PUT and PATCH. The mutation alone decides. What it refuses, and what it cannot be asked for, is looked up and told as REST does. */
export async function write(endpoint: Endpoint, request: Request, timeZone: string, id?: string): Promise<Answer> {
  const reading = { partial: request.method === 'PATCH', creating: id === undefined, timeZone };
  const validation = new Validation(endpoint, request, reading, id);
  const body = await validation.body();
  const { input, errors } = inputOf(endpoint.fields, body, reading);
  if (Object.keys(errors).length) await validation.refuse(body);
  const [operation, meant] = id === undefined ? [endpoint.create!] : [endpoint.update!, await condition(endpoint, request, id)];
  const { answer } = await run(operation, request, { id, input, ...meant });
  if (reports('ifVersion', answer)) throw failed();
  if (reports('id', answer)) {
    await validation.refuse(body);
    throw notFound();
  }
  if (answer.errors.length) await validation.refuse(body, answer.errors);
  return tagged(endpoint, id === undefined ? 201 : 200, answer.row);
}

export async function remove(endpoint: Endpoint, request: Request, id: string): Promise<Answer> {
  const meant = await condition(endpoint, request, id);
  const { answer } = await run(endpoint.remove!, request, { id, ...meant });
  if (reports('ifVersion', answer)) throw failed();
  if (reports('id', answer)) throw notFound();
  return { status: 204 };
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
