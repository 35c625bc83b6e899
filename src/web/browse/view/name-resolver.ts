/**
 * Interprets the text that people type where API clients send exact values: row names in forms
 * become ids, and text in filters becomes a search.
 */
import { filterParameterName, type FieldMetadata } from '../../../shared/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { RestRequest } from '../../../rest/request';
import type { ViewDependencies } from './view-builder';
import { createRowSearchLookup, NUMERIC_ID_PATTERN, type RowSearch } from './row-names';

/** Prefix of hidden form fields with the id of the row whose name the visible field shows. */
export const CHOSEN_ID_FIELD_PREFIX = '_chosen_';

/**
 * Matches the id in the label of an owned row, such as `12: Push day`. Labels contain the id
 * because owned rows may have equal names.
 */
const LABEL_ID_PATTERN = /^(\d+)(?:: |$)/;

/** Matches text that is neither an id nor a list of ids. */
const TEXT_WITH_LETTER_PATTERN = /\p{L}/u;

const isSameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/**
 * Finds the id of a row by its name, if that is unambiguous. `chosenId` belongs to the suggestion
 * that the user chose.
 */
async function resolveNameToId(
  { findByName, readFirstRows, isOwned }: RowSearch,
  rowName: string,
  chosenId: string | undefined,
  context: object,
): Promise<string | undefined> {
  if (isOwned && LABEL_ID_PATTERN.test(rowName)) return LABEL_ID_PATTERN.exec(rowName)![1];

  if (chosenId !== undefined && NUMERIC_ID_PATTERN.test(chosenId)) {
    const [row] = (await readFirstRows(context, { id: { eq: chosenId } }, 1)) ?? [];

    if (row && isSameName(String(row.label), rowName)) return chosenId;
  }

  const matches = (await findByName?.(context, rowName)) ?? [];
  const nameOf = (label: string | number) =>
    isOwned ? String(label).replace(LABEL_ID_PATTERN, '') : String(label);
  const exactMatches = matches.filter(({ label }) => isSameName(nameOf(label), rowName));
  const candidates = exactMatches.length === 0 ? matches : exactMatches;

  return candidates.length === 1 ? candidates[0]!.value! : undefined;
}

const toOneFields = (fields: readonly FieldMetadata[]) =>
  fields.filter(({ relation }) => relation && !relation.isToMany);

/** Creates a function that interprets the text in the form or the filters of a request. */
export function createTypedTextInterpreter({
  schema,
  prepareOperation,
}: Pick<ViewDependencies, 'schema' | 'prepareOperation'>) {
  const rowSearchOf = createRowSearchLookup(schema, prepareOperation);

  const resolveId = async (
    typeName: string,
    enteredText: string | undefined,
    chosenId: string | undefined,
    context: object,
  ) => {
    const name = enteredText?.trim();

    if (!name || NUMERIC_ID_PATTERN.test(name)) return undefined;
    const rowSearch = rowSearchOf(typeName);

    return rowSearch && resolveNameToId(rowSearch, name, chosenId, context);
  };

  async function resolveRowNamesInForm(
    { fields }: ResourceEndpoint,
    { form, context }: RestRequest,
  ): Promise<void> {
    if (!form?.body.isForm) return;
    const formData = new Map(form.body.data);

    const lastFormText = (key: string) => {
      const value = formData.get(key)?.at(-1);

      return typeof value === 'string' ? value : undefined;
    };

    const values = { ...form.values };

    for (const { restKey, relation } of toOneFields(fields)) {
      const id = await resolveId(
        relation!.typeName,
        lastFormText(restKey),
        lastFormText(`${CHOSEN_ID_FIELD_PREFIX}${restKey}`),
        context,
      );

      if (id === undefined) continue;
      formData.set(restKey, [id]);
      values[restKey] = [id];
    }

    // Removes the empty value that a group of checkboxes always sends, so that the server also
    // receives an empty list.
    for (const { restKey, relation } of fields) {
      if (relation?.isToMany && formData.has(restKey)) {
        formData.set(
          restKey,
          formData.get(restKey)!.filter((value) => value !== ''),
        );
      }
    }

    for (const key of [...formData.keys()]) {
      if (key.startsWith(CHOSEN_ID_FIELD_PREFIX)) formData.delete(key);
    }

    form.body = { isForm: true, data: formData };
    form.values = values;
  }

  /**
   * Condition of a filter with text, which also finds similar text and parts of names. Other values
   * are left to the filters of REST.
   */
  function searchConditionOf(
    { name, kind, relation }: FieldMetadata,
    text: string,
  ): Record<string, unknown> | undefined {
    if (kind === 'string') return { [name]: { search: text } };
    if (!relation || !TEXT_WITH_LETTER_PATTERN.test(text)) return undefined;
    const condition = rowSearchOf(relation.typeName)?.conditionFor?.(text);

    return (
      condition && {
        [relation.relationFieldName]: relation.isToMany ? { some: condition } : condition,
      }
    );
  }

  async function interpretFilters(
    { fields, view }: ResourceEndpoint,
    request: RestRequest,
  ): Promise<void> {
    const { query, context } = request;
    const searchConditions = new Map<string, Record<string, unknown>>();

    for (const filter of view.filters) {
      const field = fields.find(({ name }) => name === filter.field)!;
      const parameterName = filterParameterName(filter, field);
      const text = query.getAll(parameterName).at(-1)?.trim();

      if (!text || filter.operator || filter.syntax === 'ids' || text.includes('\0')) continue;
      const { relation } = field;
      const id =
        relation && !relation.isToMany
          ? await resolveId(relation.typeName, text, undefined, context)
          : undefined;
      const condition = id === undefined ? searchConditionOf(field, text) : undefined;

      if (id !== undefined) query.set(parameterName, id);
      if (condition) searchConditions.set(parameterName, condition);
    }

    request.searchConditions = searchConditions;
  }

  return async (request: RestRequest): Promise<void> => {
    const { route } = request;

    if (!route) return;
    if (route.kind !== 'list' && route.kind !== 'detail') return;

    if (request.form) await resolveRowNamesInForm(route.endpoint, request);
    else if (route.kind === 'list' && request.method === 'GET') {
      await interpretFilters(route.endpoint, request);
    }
  };
}
