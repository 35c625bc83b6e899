/** Query strings and the names of their parameters. */
import { toSnakeCase } from '../../shared/casing';

/** Converts a GraphQL argument name to its REST query parameter: `exerciseId` → `exercise`. */
export const toQueryParameterName = (argumentName: string) =>
  toSnakeCase(argumentName).replace(/_id$/, '');

/**
 * Parses a query string. A leading question mark belongs to the first parameter's name; without the
 * `&`, `URLSearchParams` would drop it.
 */
export const parseQuery = (text: string): URLSearchParams => new URLSearchParams(`&${text}`);

/** Last value of a parameter, because later repetitions win as in Django. */
export const lastValueOf = (query: URLSearchParams, key: string): string | undefined =>
  query.getAll(key).at(-1);
