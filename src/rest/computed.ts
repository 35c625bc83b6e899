/** Actions, and endpoints of their own: query parameters become the arguments of a field, its value becomes a body. */
import { isNonNullType } from 'graphql';
import type { BodyFact } from '../contract/facts';
import { parameter } from '../contract/casing';
import { run } from './asking';
import { lastOf } from './dialect/query';
import type { Computed, Data } from './endpoints';
import { RestError } from './errors';
import type { Answer, Request } from './request';

/** Of the row `self`, if it is the field of one. */
export async function computed({ fact, field, run: operation }: Computed<BodyFact>, request: Request, self?: string): Promise<Answer> {
  const required = field.args.filter(({ type }) => isNonNullType(type));
  const given = Object.fromEntries(field.args.map(({ name }) => [name, lastOf(request.query, parameter(name))]));
  if (fact.whenMissing !== undefined && required.some(({ name }) => !given[name])) return { status: 200, body: fact.whenMissing };
  // A required one that is missing is handed on empty, so that the field itself refuses it, after the row was found.
  for (const { name } of required) given[name] ??= '';
  try {
    const data = await run(operation, request, self === undefined ? given : { self, ...given });
    return { status: 200, body: bodyOf(fact, self === undefined ? data.result : data.row.action) };
  } catch (error) {
    if (!fact.whenInvalid || !(error instanceof RestError) || error.status !== 400) throw error;
    return { status: 200, body: { ...fact.whenInvalid, errors: error.body } };
  }
}

function bodyOf({ key, maps = [] }: BodyFact, value: Data): unknown {
  const shown = maps.length ? { ...value } : value;
  for (const name of maps)
    shown[name] = Object.fromEntries(shown[name].map((entry: { key: string; value: unknown }) => [entry.key, entry.value]));
  if (key === undefined) return shown;
  return shown === null ? {} : { [key]: shown };
}
