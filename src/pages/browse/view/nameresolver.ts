/** Replaces names in form and filter values by ids, because people type names where API clients send ids. Exactly one row must match a name. */
import { filterParameterName, type FieldMetadata } from '../../../contract/metadata';
import type { Endpoint } from '../../../rest/endpoints';
import type { RestRequest } from '../../../rest/request';
import type { ViewDependencies } from './viewbuilder';
import { createRowNameSearchLookup, type RowNameSearch } from './rownames';

/** Prefix of the name of a hidden form field, which contains the id of the row whose name the visible field shows. */
export const CHOSEN_ID_PREFIX = '_chosen_';

const NUMERIC_ID_PATTERN = /^\d+$/;
/** Matches the id at the start of the label of an owned row, such as `12: Push day`. Labels contain the id because owned rows may have equal names. */
const LABEL_ID_PATTERN = /^(\d+)(?:: |$)/;

const isSameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

/** Returns the id of the row with the name `text`, if it is unambiguous. `chosenId` is the id of the suggestion that the user chose. */
async function resolveName(
  { findByName, readFirstRows, isOwned }: RowNameSearch,
  text: string,
  chosenId: string | undefined,
  context: object,
): Promise<string | undefined> {
  if (isOwned && LABEL_ID_PATTERN.test(text)) return LABEL_ID_PATTERN.exec(text)![1];
  if (chosenId !== undefined && NUMERIC_ID_PATTERN.test(chosenId)) {
    const [row] = (await readFirstRows(context, { id: { eq: chosenId } }, 1)) ?? [];
    if (row && isSameName(String(row.label), text)) return chosenId;
  }
  const matches = (await findByName?.(context, text)) ?? [];
  const nameOf = (label: string | number) => (isOwned ? String(label).replace(LABEL_ID_PATTERN, '') : String(label));
  const exactMatches = matches.filter(({ label }) => isSameName(nameOf(label), text));
  const [match] = exactMatches.length === 0 ? matches : exactMatches;
  return (exactMatches.length === 1 || matches.length === 1) && match ? match.value! : undefined;
}

/** Returns the relation fields that refer to at most one row. */
const singleRowRelationsOf = (fields: readonly FieldMetadata[]) => fields.filter(({ relation }) => relation && !relation.isToMany);

/** Returns a function that replaces the names in the form or the filters of a request. */
export function createNameResolver({ schema, prepareOperation }: Pick<ViewDependencies, 'schema' | 'prepareOperation'>) {
  const rowSearchOf = createRowNameSearchLookup(schema, prepareOperation);

  const resolveId = async (type: string, text: string | undefined, chosenId: string | undefined, context: object) => {
    const name = text?.trim();
    if (!name || NUMERIC_ID_PATTERN.test(name)) return undefined;
    const rowSearch = rowSearchOf(type);
    return rowSearch && resolveName(rowSearch, name, chosenId, context);
  };

  async function resolveFormNames({ fields }: Endpoint, { form, context }: RestRequest): Promise<void> {
    if (!form?.body.isForm) return;
    const data = new Map(form.body.data);
    const lastText = (key: string) => {
      const value = data.get(key)?.at(-1);
      return typeof value === 'string' ? value : undefined;
    };
    const values = { ...form.values };
    for (const { restKey, relation } of singleRowRelationsOf(fields)) {
      const id = await resolveId(relation!.type, lastText(restKey), lastText(`${CHOSEN_ID_PREFIX}${restKey}`), context.resolverContext);
      if (id === undefined) continue;
      data.set(restKey, [id]);
      values[restKey] = [id];
    }
    for (const key of [...data.keys()].filter((dataKey) => dataKey.startsWith(CHOSEN_ID_PREFIX))) data.delete(key);
    form.body = { isForm: true, data };
    form.values = values;
  }

  async function resolveFilterNames({ fields, view }: Endpoint, { query, context }: RestRequest): Promise<void> {
    for (const filter of view.filters) {
      const { field, syntax } = filter;
      const [metadata] = singleRowRelationsOf(fields.filter(({ name }) => name === field));
      if (!metadata || syntax === 'ids' || syntax === 'commaIds') continue;
      const name = filterParameterName(filter, metadata);
      const id = await resolveId(metadata.relation!.type, query.getAll(name).at(-1), undefined, context.resolverContext);
      if (id !== undefined) query.set(name, id);
    }
  }

  return async (request: RestRequest): Promise<void> => {
    const { route } = request;
    if (!route) return;
    if (route.kind !== 'list' && route.kind !== 'detail') return;
    if (request.form) await resolveFormNames(route.endpoint, request);
    else if (route.kind === 'list' && request.method === 'GET') await resolveFilterNames(route.endpoint, request);
  };
}
