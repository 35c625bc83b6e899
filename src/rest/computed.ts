/** Actions, and endpoints of their own: query parameters become the arguments of a field, its value becomes a body. */
import { isNonNullType, type GraphQLField } from 'graphql';
import type { BodyFact } from '../contract/facts';
import type { Data } from './endpoints';
import { RestError } from './errors';
import { snake } from '../contract/casing';

/**
 * The variables of a field's arguments; the last of repeated parameters counts. A required one that is missing is handed on empty, so that
 * the field itself refuses it, after the row was found.
 */
export function argumentsOf(
  { args }: Pick<GraphQLField<unknown, unknown>, 'args'>,
  query: URLSearchParams,
): Record<string, string | undefined> {
  return Object.fromEntries(
    args.map(({ name, type }) => [name, query.getAll(snake(name)).at(-1) ?? (isNonNullType(type) ? '' : undefined)]),
  );
}

/** Whether a required argument is missing or empty. */
export const lacks = ({ args }: Pick<GraphQLField<unknown, unknown>, 'args'>, given: Record<string, string | undefined>): boolean =>
  args.some(({ name, type }) => isNonNullType(type) && !given[name]);

function bodyOf({ key, maps = [] }: BodyFact, value: Data): unknown {
  const shown = maps.length ? { ...value } : value;
  for (const name of maps)
    shown[name] = Object.fromEntries(shown[name].map((entry: { key: string; value: unknown }) => [entry.key, entry.value]));
  if (key === undefined) return shown;
  return shown === null ? {} : { [key]: shown };
}

export async function computed(fact: BodyFact, value: Promise<unknown>): Promise<unknown> {
  try {
    return bodyOf(fact, await value);
  } catch (error) {
    if (!fact.whenInvalid || !(error instanceof RestError) || error.status !== 400) throw error;
    return { ...fact.whenInvalid, errors: error.body };
  }
}
