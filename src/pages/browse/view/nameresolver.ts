/** Replaces names in form and filter values by ids, because people type names where API clients send ids. Exactly one row must match a name. */
import { filterParameterName, type FieldMetadata } from '../../../contract/metadata';
import type { ResourceEndpoint } from '../../../rest/endpoints';
import type { RestRequest } from '../../../rest/request';
import type { ViewDependencies } from './viewbuilder';
import { createRowNameSearchLookup, type RowNameSearch } from './rownames';

/** Prefix of the name of a hidden form field, which contains the id of the row whose name the visible field shows. */
export const CHOSEN_ID_FIELD_PREFIX = '_chosen_';

const NUMERIC_ID_PATTERN = /^\d+$/;
/** Matches the id at the start of the label of an owned row, such as `12: Push day`. Labels contain the id because owned rows may have equal names. */
const LABEL_ID_PATTERN = /^(\d+)(?:: |$)/;

const isSameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** Returns the id of the row with the name `rowName`, if it is unambiguous. `chosenId` is the id of the suggestion that the user chose. */
async function resolveNameToId(
  { findByName, readFirstRows, isOwned }: RowNameSearch,
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
  const [match] = exactMatches.length === 0 ? matches : exactMatches;
  return (exactMatches.length === 1 || matches.length === 1) && match ? match.value! : undefined;
}

const toOneRelationFieldsOf = (fields: readonly FieldMetadata[]) =>
  fields.filter(({ relation }) => relation && !relation.isToMany);

/** Returns a function that replaces the names in the form or the filters of a request. */
export function createNameResolver({
  schema,
  prepareOperation,
}: Pick<ViewDependencies, 'schema' | 'prepareOperation'>) {
  const rowSearchOf = createRowNameSearchLookup(schema, prepareOperation);

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
    for (const { restKey, relation } of toOneRelationFieldsOf(fields)) {
      const id = await resolveId(
        relation!.typeName,
        lastFormText(restKey),
        lastFormText(`${CHOSEN_ID_FIELD_PREFIX}${restKey}`),
        context.resolverContext,
      );
      if (id === undefined) continue;
      formData.set(restKey, [id]);
      values[restKey] = [id];
    }
    for (const key of [...formData.keys()].filter((dataKey) =>
      dataKey.startsWith(CHOSEN_ID_FIELD_PREFIX),
    ))
      formData.delete(key);
    form.body = { isForm: true, data: formData };
    form.values = values;
  }

  async function resolveRowNamesInFilters(
    { fields, view }: ResourceEndpoint,
    { query, context }: RestRequest,
  ): Promise<void> {
    for (const filter of view.filters) {
      const { field, syntax } = filter;
      const [metadata] = toOneRelationFieldsOf(fields.filter(({ name }) => name === field));
      if (!metadata || syntax === 'ids' || syntax === 'commaIds') continue;
      const name = filterParameterName(filter, metadata);
      const id = await resolveId(
        metadata.relation!.typeName,
        query.getAll(name).at(-1),
        undefined,
        context.resolverContext,
      );
      if (id !== undefined) query.set(name, id);
    }
  }

  return async (request: RestRequest): Promise<void> => {
    const { route } = request;
    if (!route) return;
    if (route.kind !== 'list' && route.kind !== 'detail') return;
    if (request.form) await resolveRowNamesInForm(route.endpoint, request);
    else if (route.kind === 'list' && request.method === 'GET')
      await resolveRowNamesInFilters(route.endpoint, request);
  };
}
