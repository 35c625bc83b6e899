/**
 * Data dumps in Django's serialization format (https://docs.djangoproject.com/en/stable/topics/serialization/): rows `{"model", "pk", "fields"}`.
 * The reference service exports this format; imports and seeds use it.
 */
import { MAX_INTEGER } from '../contract/bounds';
import { ClientError } from '../core/model/errors';
import { fieldsOf, type Entity } from '../core/model/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../core/model/registry';

export interface DumpRow {
  model: string;
  pk: number | string;
  fields: Record<string, unknown>;
}

export const DJANGO_TOKEN_MODEL = 'authtoken.token';
export const DJANGO_USER_MODEL = 'auth.user';

export const failImport = (message: string): never => {
  throw new ClientError('BAD_USER_INPUT', message);
};

export const entitiesByDumpModel = () =>
  new Map(
    allEntities().flatMap((entity) =>
      resourceOf(entity)!.dumpModelName
        ? [[resourceOf(entity)!.dumpModelName!, entity] as const]
        : [],
    ),
  );

/** Whether a user has at most one row of this entity, such as their preferences, on which defaults of the user's other rows depend. */
const isOnePerUser = (entity: Entity): boolean =>
  resourceOf(entity)!.uniqueFields?.join() === OWNER_FIELD.field;

/**
 * Sorts entities topologically: referenced tables before those that refer to them. The preferences of users come before their other rows. The result
 * does not depend on the order of the dump or of the entities.
 */
export function sortByDependency(models: Map<string, Entity>): Entity[] {
  const sortedEntities: Entity[] = [];
  const visit = (entity: Entity) => {
    if (sortedEntities.includes(entity)) return;
    for (const field of fieldsOf(entity))
      if ((field.isColumn || field.link) && field.target && field.target() !== entity)
        visit(field.target());
    sortedEntities.push(entity);
  };
  const entities = [...models.values()];
  for (const entity of [...entities.filter(isOnePerUser), ...entities]) visit(entity);
  return sortedEntities;
}

export const describeRow = (row: Pick<DumpRow, 'model' | 'pk'>) =>
  `${row.model} ${JSON.stringify(row.pk)}`;

/** Access to the rows of a dump, which are in memory or in a file. */
export interface DumpRowIndex {
  readonly rowCountByModel: ReadonlyMap<string, number>;
  /** Returns the rows of one model in the order of the dump. */
  rowsOf(model: string): Iterable<DumpRow> | AsyncIterable<DumpRow>;
}

export function indexRowsByModel(rows: readonly DumpRow[]): DumpRowIndex {
  const rowsByModel = new Map<string, DumpRow[]>();
  for (const row of rows) {
    const modelRows = rowsByModel.get(row.model);
    if (modelRows) modelRows.push(row);
    else rowsByModel.set(row.model, [row]);
  }
  return {
    rowCountByModel: new Map(
      [...rowsByModel].map(([model, modelRows]) => [model, modelRows.length]),
    ),
    rowsOf: (model) => rowsByModel.get(model) ?? [],
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isRow = (value: unknown): value is DumpRow =>
  isObject(value) &&
  'model' in value &&
  typeof value.model === 'string' &&
  'fields' in value &&
  isObject(value.fields);

/** Validates rows one by one: the model must be known, and the primary key valid and unique. */
export class RowValidator {
  private readonly entityByModel = entitiesByDumpModel();
  private readonly seenKeysByModel = new Map<string, Set<number | string>>();
  private validatedCount = 0;

  /** Returns the row if it is valid; otherwise throws an error with its position. */
  validate(value: unknown): DumpRow {
    const position = `Row ${(this.validatedCount += 1)}`;
    const row = isRow(value)
      ? value
      : failImport(`${position} is not of the form {"model", "pk", "fields"}.`);
    if (!this.entityByModel.has(row.model) && row.model !== DJANGO_TOKEN_MODEL)
      failImport(`${position}: unknown model ${JSON.stringify(row.model)}.`);
    const isValidKey =
      row.model === DJANGO_TOKEN_MODEL
        ? typeof row.pk === 'string' && row.pk !== ''
        : Number.isInteger(row.pk) && (row.pk as number) > 0 && (row.pk as number) <= MAX_INTEGER;
    if (!isValidKey)
      failImport(`${position} (${row.model}): ${JSON.stringify(row.pk)} is not a primary key.`);
    const modelKeys = this.seenKeysByModel.get(row.model) ?? new Set();
    if (modelKeys.has(row.pk)) failImport(`${position}: ${describeRow(row)} occurs twice.`);
    this.seenKeysByModel.set(row.model, modelKeys.add(row.pk));
    return row;
  }
}

export function validateDump(value: unknown): DumpRow[] {
  if (!Array.isArray(value)) return failImport('The file must contain a JSON array of rows.');
  const validator = new RowValidator();
  return value.map((row) => validator.validate(row));
}
