/** A body → the input of a mutation, with the errors of all its fields at once. */
import { NOT_NULL, REQUIRED } from '../../contract/messages';
import { isRequired, type FieldFact } from '../../contract/facts';
import type { Body } from './body';
import { invalid, type Errors } from '../errors';
import { SentNumber } from './json';
import { coerce, idOf, itemsOf, reference, typeName, type Coercible } from './values';

/** What is looked at of a field that a body may hold. */
export type Accepted = Coercible &
  Pick<FieldFact, 'name' | 'rest' | 'null' | 'blank' | 'hasDefault' | 'restReadOnly' | 'restIgnoredOnCreate' | 'relation'>;
/** Per relation the ids that exist and may be named. */
export type Known = Record<string, number[]>;
type Values = Record<string, unknown>;

const ABSENT = Symbol('absent');

/** The body as an object; 400 for anything else. */
export function objectOf(body: Body): Values | null {
  if (body.form) return {};
  const { data } = body;
  if (data !== null && typeof data === 'object' && !Array.isArray(data) && !(data instanceof SentNumber)) return data as Values;
  return null;
}

export function notAnObject(body: Body): never {
  const data = body.form ? null : body.data;
  throw invalid({
    non_field_errors: [data === null ? 'No data provided' : `Invalid data. Expected a dictionary, but got ${typeName(data)}.`],
  });
}

/** What was sent for a field, or ABSENT. A form has texts only, and leaves an unchecked box out. */
function given(field: Accepted, body: Body, partial: boolean): unknown {
  if (!body.form) {
    const data = body.data as Values;
    return Object.hasOwn(data, field.rest) ? data[field.rest] : ABSENT;
  }
  const values = body.data.get(field.rest);
  if (field.relation?.many) return values ?? (partial ? ABSENT : []);
  if (values === undefined) return field.kind === 'boolean' && !partial ? false : ABSENT;
  const value = values.at(-1);
  if (value !== '') return value;
  if (field.null) return field.blank ? '' : null;
  return isRequired(field) || field.blank ? '' : ABSENT;
}

const isFalsy = (value: unknown): boolean =>
  !value ||
  value === ABSENT ||
  (value instanceof SentNumber && value.value === 0) ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && !(value instanceof SentNumber) && Object.keys(value as object).length === 0);

/** Of longer lists the rest counts as unknown. */
const MAX_NAMED = 1000;

/** The ids that a body names, by relation, so that they can be looked up together. */
export function namedIds(relations: readonly FieldFact[], body: Body): Record<string, string[]> {
  const ids: Record<string, string[]> = {};
  for (const field of relations) {
    const value = field.restReadOnly ? ABSENT : given(field, body, true);
    const values = (field.relation!.many && itemsOf(value)) || [value === true ? 1 : value];
    const named = new Set<number>();
    for (const one of values) {
      const id = idOf(one);
      if (id !== undefined && named.size < MAX_NAMED) named.add(id);
    }
    ids[field.name] = [...named].map(String);
  }
  return ids;
}

export function namesForeignParent(relations: readonly FieldFact[], body: Body, known: Known): boolean {
  return relations.some((field) => {
    if (!field.relation!.owned || field.restReadOnly) return false;
    const value = given(field, body, true);
    if (isFalsy(value)) return false;
    const id = idOf(value === true ? 1 : value);
    return id !== undefined && !known[field.name]!.includes(id);
  });
}

export interface Reading {
  partial: boolean;
  creating: boolean;
  timeZone: string;
}

/** Unknown and read-only keys are dropped; a partial body requires nothing. Without `known`, whether the rows are there that are named is left open. */
export function inputOf(
  fields: readonly Accepted[],
  body: Body,
  { partial, creating, timeZone }: Reading,
  known?: Known,
): { input: Values; errors: Errors } {
  const input: Values = {};
  const errors: Errors = {};
  for (const field of fields) {
    if (field.restReadOnly) continue;
    const value = given(field, body, partial);
    const refuse = (messages: string[]) => (errors[field.rest] = messages);
    if (value === ABSENT) {
      if (!partial && isRequired(field)) refuse([field.kind === 'image' ? 'No file was submitted.' : REQUIRED]);
    } else if (value === null || (value === '' && field.relation && !field.relation.many)) {
      if (field.null) input[field.name] = null;
      else refuse([NOT_NULL]);
    } else {
      const coerced = field.relation ? reference(field, value, known?.[field.name]) : coerce(field, value, timeZone);
      if ('messages' in coerced) refuse(coerced.messages);
      else if (!(creating && field.restIgnoredOnCreate)) input[field.name] = coerced.value;
    }
  }
  return { input, errors };
}

/** What a mutation says of its input. The path begins with the argument, in which a field comes second. */
export interface InputError {
  path: string[];
  message: string;
}

/** Adds what only a longer look at the values tells; the mutation has looked already, if it has `found` anything. */
export async function inspect(fields: readonly FieldFact[], input: Values, errors: Errors, found?: readonly InputError[]): Promise<void> {
  for (const field of fields) {
    if (!field.inspect || input[field.name] == null) continue;
    const said = found?.filter(({ path }) => path[1] === field.name).map(({ message }) => message);
    const messages = said ?? (await field.inspect(input[field.name]));
    if (messages.length) errors[field.rest] = messages;
  }
}
