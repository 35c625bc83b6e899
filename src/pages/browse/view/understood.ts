/** People type names where programs send ids: a name that only one row can be meant by becomes its id. */
import type { FieldFact } from '../../../contract/facts';
import type { Endpoint } from '../../../rest/endpoints';
import type { Request } from '../../../rest/request';
import type { Sources } from './browse';
import { namings, type Naming } from './naming';

/** Beside a field that shows a name: the id of the row that it was the name of. */
export const CHOSEN = '_chosen_';

const ID = /^\d+$/;
/** One's own rows may be called alike, so their ids stand before their names. */
const LABELLED = /^(\d+)(?:: |$)/;

const alike = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

async function meantBy(
  { find, rows, owned }: Naming,
  text: string,
  chosen: string | undefined,
  context: object,
): Promise<string | undefined> {
  if (owned && LABELLED.test(text)) return LABELLED.exec(text)![1];
  if (chosen !== undefined && ID.test(chosen)) {
    const [row] = (await rows(context, { id: { eq: chosen } }, 1)) ?? [];
    if (row && alike(String(row.label), text)) return chosen;
  }
  const found = (await find?.(context, text)) ?? [];
  const nameOf = (label: string | number) => (owned ? String(label).replace(LABELLED, '') : String(label));
  const exact = found.filter(({ label }) => alike(nameOf(label), text));
  const [one] = exact.length === 0 ? found : exact;
  return (exact.length === 1 || found.length === 1) && one ? one.value! : undefined;
}

/** Fields of which one row is chosen. */
const single = (fields: readonly FieldFact[]) => fields.filter(({ relation }) => relation && !relation.many);

export function understanding({ schema, prepare }: Pick<Sources, 'schema' | 'prepare'>) {
  const namingOf = namings(schema, prepare);

  const idOf = async (type: string, text: string | undefined, chosen: string | undefined, context: object) => {
    const name = text?.trim();
    if (!name || ID.test(name)) return undefined;
    const naming = namingOf(type);
    return naming && meantBy(naming, name, chosen, context);
  };

  async function inForm({ fields }: Endpoint, { form, exchange }: Request): Promise<void> {
    if (!form?.body.form) return;
    const data = new Map(form.body.data);
    const last = (key: string) => {
      const value = data.get(key)?.at(-1);
      return typeof value === 'string' ? value : undefined;
    };
    const values = { ...form.values };
    for (const { rest, relation } of single(fields)) {
      const id = await idOf(relation!.type, last(rest), last(`${CHOSEN}${rest}`), exchange.context);
      if (id === undefined) continue;
      data.set(rest, [id]);
      values[rest] = [id];
    }
    for (const key of [...data.keys()].filter((one) => one.startsWith(CHOSEN))) data.delete(key);
    form.body = { form: true, data };
    form.values = values;
  }

  async function inQuery({ fields, view }: Endpoint, { query, exchange }: Request): Promise<void> {
    for (const { field, key, parse } of view.filters) {
      const [fact] = single(fields.filter(({ name }) => name === field));
      if (!fact || parse === 'ids' || parse === 'commaIds') continue;
      const name = key ?? fact.rest;
      const id = await idOf(fact.relation!.type, query.getAll(name).at(-1), undefined, exchange.context);
      if (id !== undefined) query.set(name, id);
    }
  }

  return async (request: Request): Promise<void> => {
    const { route } = request;
    if (!route) return;
    if (route.kind !== 'list' && route.kind !== 'detail') return;
    if (request.form) await inForm(route.endpoint, request);
    else if (route.kind === 'list' && request.method === 'GET') await inQuery(route.endpoint, request);
  };
}
