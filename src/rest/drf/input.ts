/**
 * Converts a request body to the input of a GraphQL mutation and collects the errors of all fields.
 */
import { NOT_NULL_MESSAGE, REQUIRED_MESSAGE } from '../../shared/messages';
import { isRequired, type FieldMetadata } from '../../shared/metadata';
import type { ParsedBody } from './body';
import { validationError, type FieldErrors } from '../errors';
import { JsonNumber } from './json-parser';
import {
  coerceValue,
  coerceRowId,
  idsInList,
  coerceReference,
  pythonTypeName,
  type CoercibleField,
} from './coercion';

export type InputField = CoercibleField &
  Pick<
    FieldMetadata,
    | 'name'
    | 'restKey'
    | 'allowNull'
    | 'allowBlank'
    | 'hasDefault'
    | 'restReadOnly'
    | 'pageReadOnly'
    | 'restIgnoredOnCreate'
    | 'relation'
  >;

/** Ids of existing rows that the client may use as references, by relation. */
export type ReferenceableIds = Record<string, number[]>;
type InputValues = Record<string, unknown>;

/** Value of a field that a body does not contain. */
const ABSENT = Symbol('absent');

/** Narrows a request body to a JSON object. A form counts as an empty object. */
export function bodyAsObject(body: ParsedBody): InputValues | null {
  if (body.isForm) return {};
  const { data } = body;

  if (
    data !== null &&
    typeof data === 'object' &&
    !Array.isArray(data) &&
    !(data instanceof JsonNumber)
  ) {
    return data as InputValues;
  }

  return null;
}

export function rejectNonObject(body: ParsedBody): never {
  const data = body.isForm ? null : body.data;
  let message = 'No data provided';

  if (data !== null) {
    message = `Invalid data. Expected a dictionary, but got ${pythonTypeName(data)}.`;
  }

  throw validationError({
    non_field_errors: [message],
  });
}

/**
 * Reads the value of a field from a request body. In forms, a missing boolean is false (unchecked),
 * and an empty string may mean null.
 */
function submittedValue(field: InputField, body: ParsedBody, isPartialBody: boolean): unknown {
  if (!body.isForm) {
    const data = body.data as InputValues;

    return Object.hasOwn(data, field.restKey) ? data[field.restKey] : ABSENT;
  }

  const values = body.data.get(field.restKey);

  if (field.relation?.isToMany) return values ?? (isPartialBody ? ABSENT : []);
  if (values === undefined) return field.kind === 'boolean' && !isPartialBody ? false : ABSENT;
  const value = values.at(-1);

  if (value !== '') return value;
  if (field.allowNull) return field.allowBlank ? '' : null;

  return isRequired(field) || field.allowBlank ? '' : ABSENT;
}

const isFalsyInPython = (value: unknown): boolean =>
  !value ||
  value === ABSENT ||
  (value instanceof JsonNumber && value.value === 0) ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' &&
    !(value instanceof JsonNumber) &&
    Object.keys(value as object).length === 0);

/** Maximum number of row ids per field whose existence is checked. Further ids count as unknown. */
const MAX_REFERENCED_IDS = 1000;

/**
 * Collects the row ids in a request body by relation, so that one GraphQL operation can look up all
 * of them.
 */
export function referencedIdsOf(
  relations: readonly FieldMetadata[],
  body: ParsedBody,
): Record<string, string[]> {
  const idsByRelation: Record<string, string[]> = {};

  for (const field of relations) {
    const value = field.restReadOnly ? ABSENT : submittedValue(field, body, true);
    const values = (field.relation!.isToMany && idsInList(value)) || [value === true ? 1 : value];
    const referencedIds = new Set<number>();

    for (const item of values) {
      const id = coerceRowId(item);

      if (id !== undefined && referencedIds.size < MAX_REFERENCED_IDS) referencedIds.add(id);
    }

    idsByRelation[field.name] = [...referencedIds].map(String);
  }

  return idsByRelation;
}

/**
 * Whether the body refers to a parent row (such as the workout of a training day) that does not
 * exist or belongs to another user.
 */
export function refersToInaccessibleParent(
  relations: readonly FieldMetadata[],
  body: ParsedBody,
  referenceableIds: ReferenceableIds,
): boolean {
  return relations.some((field) => {
    if (!field.relation!.isOwned || field.restReadOnly) return false;
    const value = submittedValue(field, body, true);

    if (isFalsyInPython(value)) return false;
    const id = coerceRowId(value === true ? 1 : value);

    return id !== undefined && !referenceableIds[field.name]!.includes(id);
  });
}

export interface InputOptions {
  isPartialBody: boolean;
  isCreation: boolean;

  /** Whether the body is the form of an HTML page, which has more fields than REST. */
  isPageForm: boolean;
  timeZone: string;
}

/**
 * Coerces a request body to mutation input, dropping unknown and read-only keys. A partial body
 * (PATCH) has no required fields. Ids that are not in `referenceableIds` are errors.
 */
export function coerceInput(
  fields: readonly InputField[],
  body: ParsedBody,
  { isPartialBody, isCreation, isPageForm, timeZone }: InputOptions,
  referenceableIds?: ReferenceableIds,
): { input: InputValues; errors: FieldErrors } {
  const input: InputValues = {};
  const errors: FieldErrors = {};

  for (const field of fields) {
    if (isPageForm ? field.restReadOnly && field.pageReadOnly : field.restReadOnly) continue;
    const value = submittedValue(field, body, isPartialBody);
    const setFieldErrors = (messages: string[]) => (errors[field.restKey] = messages);

    if (value === ABSENT) {
      if (!isPartialBody && isRequired(field)) {
        setFieldErrors([field.kind === 'image' ? 'No file was submitted.' : REQUIRED_MESSAGE]);
      }
    } else if (value === null || (value === '' && field.relation && !field.relation.isToMany)) {
      if (field.allowNull) input[field.name] = null;
      else setFieldErrors([NOT_NULL_MESSAGE]);
    } else {
      const coercion = field.relation
        ? coerceReference(field, value, referenceableIds?.[field.name])
        : coerceValue(field, value, timeZone);

      if ('messages' in coercion) setFieldErrors(coercion.messages);
      else if (!(isCreation && field.restIgnoredOnCreate)) input[field.name] = coercion.value;
    }
  }

  return { input, errors };
}

/** A validation error reported by a mutation. `path` is the argument name, then the field name. */
export interface MutationError {
  path: string[];
  message: string;
}

/**
 * Adds the errors of asynchronous checks (`FieldMetadata.checkAsync`). If the mutation has already
 * run, reuses its messages, so that nothing is checked twice.
 */
export async function addSlowCheckErrors(
  fields: readonly FieldMetadata[],
  input: InputValues,
  errors: FieldErrors,
  mutationErrors?: readonly MutationError[],
): Promise<void> {
  for (const field of fields) {
    if (!field.checkAsync || input[field.name] == null) continue;
    const mutationErrorMessages = mutationErrors
      ?.filter(({ path }) => path[1] === field.name)
      .map(({ message }) => message);
    const messages = mutationErrorMessages ?? (await field.checkAsync(input[field.name]));

    if (messages.length) errors[field.restKey] = messages;
  }
}
