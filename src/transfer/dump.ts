/** Rows in the form of the reference service's data dumps, `{"model", "pk", "fields"}` (Django's dumpdata). Imports and seeds are such rows. */
import { KnownError } from '../core/errors';
import { fieldsOf, type Entity } from '../core/fields';
import { entities, resourceOf } from '../core/resource';

export interface DumpRow {
  model: string;
  pk: number | string;
  fields: Record<string, unknown>;
}

export const TOKENS = 'authtoken.token';

export const fail = (message: string): never => {
  throw new KnownError('BAD_USER_INPUT', message);
};

export const byModel = () =>
  new Map(entities().flatMap((entity) => (resourceOf(entity)!.dump ? [[resourceOf(entity)!.dump!, entity] as const] : [])));

/** Parents before children, whatever the order of the dump. */
export function inOrder(models: Map<string, Entity>): Entity[] {
  const done: Entity[] = [];
  const visit = (entity: Entity) => {
    if (done.includes(entity)) return;
    for (const field of fieldsOf(entity))
      if ((field.stored || field.link) && field.target && field.target() !== entity) visit(field.target());
    done.push(entity);
  };
  for (const entity of models.values()) visit(entity);
  return done;
}

export const at = (row: DumpRow) => `${row.model} ${JSON.stringify(row.pk)}`;

/** Checks the form of a parsed dump. */
export function asDump(data: unknown): DumpRow[] {
  if (!Array.isArray(data)) return fail('The file must hold a JSON array of rows.');
  const models = byModel();
  const seen = new Set<string>();
  data.forEach((row, index) => {
    const where = `Row ${index + 1}`;
    if (row === null || typeof row !== 'object' || typeof row.model !== 'string' || row.fields === null || typeof row.fields !== 'object')
      fail(`${where} is not of the form {"model", "pk", "fields"}.`);
    if (!models.has(row.model) && row.model !== TOKENS) fail(`${where}: unknown model ${JSON.stringify(row.model)}.`);
    const valid =
      row.model === TOKENS ? typeof row.pk === 'string' && row.pk !== '' : Number.isInteger(row.pk) && row.pk > 0 && row.pk < 2 ** 31;
    if (!valid) fail(`${where} (${row.model}): ${JSON.stringify(row.pk)} is not a primary key.`);
    if (seen.has(at(row))) fail(`${where}: ${at(row)} occurs twice.`);
    seen.add(at(row));
  });
  return data as DumpRow[];
}
