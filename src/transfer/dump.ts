/** Rows in the form of the reference service's data dumps, `{"model", "pk", "fields"}` (Django's dumpdata). Imports and seeds are such rows. */
import { MAX_INTEGER } from '../contract/bounds';
import { KnownError } from '../core/model/errors';
import { fieldsOf, type Entity } from '../core/model/fields';
import { entities, resourceOf } from '../core/model/registry';

export interface DumpRow {
  model: string;
  pk: number | string;
  fields: Record<string, unknown>;
}

export const TOKENS = 'authtoken.token';
export const USERS = 'auth.user';

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

export const at = (row: Pick<DumpRow, 'model' | 'pk'>) => `${row.model} ${JSON.stringify(row.pk)}`;

/** The rows of a dump, wherever they are kept. */
export interface DumpRows {
  /** How many there are of each model. */
  readonly counts: ReadonlyMap<string, number>;
  /** Those of one model, in their order. */
  of(model: string): Iterable<DumpRow> | AsyncIterable<DumpRow>;
}

export function inMemory(rows: readonly DumpRow[]): DumpRows {
  const byName = new Map<string, DumpRow[]>();
  for (const row of rows) {
    const those = byName.get(row.model);
    if (those) those.push(row);
    else byName.set(row.model, [row]);
  }
  return { counts: new Map([...byName].map(([model, those]) => [model, those.length])), of: (model) => byName.get(model) ?? [] };
}

/** The form of rows, one after the other. */
const isObject = (data: unknown): data is object => typeof data === 'object' && data !== null;
const isRow = (data: unknown): data is DumpRow =>
  isObject(data) && 'model' in data && typeof data.model === 'string' && 'fields' in data && isObject(data.fields);

export class RowCheck {
  private readonly models = byModel();
  private readonly seen = new Map<string, Set<number | string>>();
  private count = 0;

  passed(data: unknown): DumpRow {
    const where = `Row ${(this.count += 1)}`;
    const row = isRow(data) ? data : fail(`${where} is not of the form {"model", "pk", "fields"}.`);
    if (!this.models.has(row.model) && row.model !== TOKENS) fail(`${where}: unknown model ${JSON.stringify(row.model)}.`);
    const valid =
      row.model === TOKENS
        ? typeof row.pk === 'string' && row.pk !== ''
        : Number.isInteger(row.pk) && (row.pk as number) > 0 && (row.pk as number) <= MAX_INTEGER;
    if (!valid) fail(`${where} (${row.model}): ${JSON.stringify(row.pk)} is not a primary key.`);
    const seen = this.seen.get(row.model) ?? new Set();
    if (seen.has(row.pk)) fail(`${where}: ${at(row)} occurs twice.`);
    this.seen.set(row.model, seen.add(row.pk));
    return row;
  }
}

/** Checks the form of a parsed dump. */
export function asDump(data: unknown): DumpRow[] {
  if (!Array.isArray(data)) return fail('The file must hold a JSON array of rows.');
  const check = new RowCheck();
  return data.map((row) => check.passed(row));
}
