/** Write requests: POST, PUT, PATCH and DELETE each run one GraphQL mutation. */
import { run } from './asking';
import { inputOf, type InputError } from './dialect/input';
import { Validation } from './dialect/validation';
import type { Endpoint } from './endpoints';
import { notFound } from './errors';
import { failed, meantBy, NO_VERSION, tagged } from './preconditions';
import type { Answer, Request } from './request';

/** Whether a mutation reports an error for an argument: `id` for a missing row, `ifVersion` for a version mismatch. */
const reportsError = (argument: 'id' | 'ifVersion', { errors }: { errors: readonly InputError[] }): boolean =>
  errors.some(({ path }) => path[0] === argument);

/** POST, PUT and PATCH. If the mutation reports errors or the body cannot be coerced to its input, `Validation` throws the REST error. */
export async function write(endpoint: Endpoint, request: Request, timeZone: string, id?: string): Promise<Answer> {
  const inputOptions = { partial: request.method === 'PATCH', creating: id === undefined, timeZone };
  const validation = new Validation(endpoint, request, inputOptions, id);
  const body = await validation.readObject();
  const { input, errors } = inputOf(endpoint.fields, body, inputOptions);
  if (Object.keys(errors).length) await validation.rejectInvalid(body);
  const [operation, versionCondition] =
    id === undefined ? [endpoint.create!] : [endpoint.update!, await ifVersionVariable(endpoint, request, id)];
  const { answer } = await run(operation, request, { id, input, ...versionCondition });
  if (reportsError('ifVersion', answer)) throw failed();
  if (reportsError('id', answer)) {
    await validation.rejectInvalid(body);
    throw notFound();
  }
  if (answer.errors.length) await validation.rejectInvalid(body, answer.errors);
  return tagged(endpoint, id === undefined ? 201 : 200, answer.row);
}

export async function remove(endpoint: Endpoint, request: Request, id: string): Promise<Answer> {
  const versionCondition = await ifVersionVariable(endpoint, request, id);
  const { answer } = await run(endpoint.remove!, request, { id, ...versionCondition });
  if (reportsError('ifVersion', answer)) throw failed();
  if (reportsError('id', answer)) throw notFound();
  return { status: 204 };
}

/** Returns the `ifVersion` variable for If-Match. Of several versions, the row's current one is used, because versions never recur. */
async function ifVersionVariable({ version, resource }: Endpoint, request: Request, id: string): Promise<{ ifVersion?: string }> {
  const acceptedVersions = version && meantBy(request.message.headers);
  if (!acceptedVersions) return {};
  if (acceptedVersions.length < 2) return { ifVersion: acceptedVersions[0] ?? NO_VERSION };
  const { row } = await run(version, request, { id });
  const currentVersion = row[resource.version!] as string;
  return { ifVersion: acceptedVersions.includes(currentVersion) ? currentVersion : NO_VERSION };
}
