/**
 * Data dumps in Django's serialization format
 * (https://docs.djangoproject.com/en/stable/topics/serialization/): rows `{"model", "pk",
 * "fields"}`. The reference service exports this format; imports and seeds use it.
 */
import { MAX_INTEGER } from '../shared/bounds';
import { ClientError } from '../engine/declare/errors';
import { fieldsOf, type Entity } from '../engine/declare/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../engine/declare/registry';
import { groupBy } from '../shared/multimap';

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

export function entitiesByDumpModel(): Map<string, Entity> {
  const entityByModel = new Map<string, Entity>();

  for (const entity of allEntities()) {
    const { dumpModelName } = resourceOf(entity)!;

    if (dumpModelName) entityByModel.set(dumpModelName, entity);
  }

  return entityByModel;
}

/** Whether each user has at most one row of the entity, such as preferences. */
const hasOneRowPerUser = (entity: Entity): boolean =>
  resourceOf(entity)!.uniqueFields?.join() === OWNER_FIELD.field;

/**
 * Sorts entities topologically: referenced tables come before the tables that refer to them.
 * Entities with one row per user, such as preferences, come as early as possible, because defaults
 * of a user's other rows depend on them.
 */
export function sortByDependency(models: Map<string, Entity>): Entity[] {
  const sortedEntities: Entity[] = [];

  const visit = (entity: Entity) => {
    if (sortedEntities.includes(entity)) return;

    for (const field of fieldsOf(entity)) {
      if ((field.isColumn || field.link) && field.target && field.target() !== entity) {
        visit(field.target());
      }
    }

    sortedEntities.push(entity);
  };

  const entities = [...models.values()];

  for (const entity of [...entities.filter(hasOneRowPerUser), ...entities]) visit(entity);

  return sortedEntities;
}

export const describeRow = (row: Pick<DumpRow, 'model' | 'pk'>) =>
  `${row.model} ${JSON.stringify(row.pk)}`;

/** Index of the rows of a dump by model, in memory or in a file. */
export interface DumpRowIndex {
  readonly rowCountByModel: ReadonlyMap<string, number>;

  /** Yields the rows of a model in the order of the dump. */
  rowsOf(model: string): Iterable<DumpRow> | AsyncIterable<DumpRow>;
}

export function indexRowsByModel(rows: readonly DumpRow[]): DumpRowIndex {
  const rowsByModel = groupBy(rows, ({ model }) => model);

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

/** Maximum number of unknown models in an error message. */
const MAX_LISTED_MODELS = 50;

/** Validates rows one by one: the model must be known, and the primary key valid and unique. */
export class RowValidator {
  private readonly entityByModel = entitiesByDumpModel();
  private readonly rowNumberByUnknownModel = new Map<string, number>();
  private readonly seenKeysByModel = new Map<string, Set<number | string>>();
  private validatedCount = 0;

  /** Validates one row of a dump, except for its model. Errors contain its position. */
  validate(row: unknown): DumpRow {
    const position = `Row ${(this.validatedCount += 1)}`;

    if (!isRow(row)) {
      return failImport(`${position} is not of the form {"model", "pk", "fields"}.`);
    }

    const { model, pk } = row;

    if (!this.entityByModel.has(model) && model !== DJANGO_TOKEN_MODEL) {
      if (!this.rowNumberByUnknownModel.has(model)) {
        this.rowNumberByUnknownModel.set(model, this.validatedCount);
      }

      return row;
    }

    let isValidKey = Number.isInteger(pk) && (pk as number) > 0 && (pk as number) <= MAX_INTEGER;

    if (model === DJANGO_TOKEN_MODEL) isValidKey = typeof pk === 'string' && pk !== '';

    if (!isValidKey) {
      failImport(`${position} (${row.model}): ${JSON.stringify(row.pk)} is not a primary key.`);
    }

    const modelKeys = this.seenKeysByModel.get(row.model) ?? new Set();

    if (modelKeys.has(row.pk)) failImport(`${position}: ${describeRow(row)} occurs twice.`);
    this.seenKeysByModel.set(row.model, modelKeys.add(row.pk));
    return row;
  }

  /** Throws one error that names all unknown models, after the last row. */
  rejectUnknownModels(): void {
    const unknownModels = [...this.rowNumberByUnknownModel];

    if (!unknownModels.length) return;
    const listedModels = unknownModels
      .slice(0, MAX_LISTED_MODELS)
      .map(([model, rowNumber]) => `${JSON.stringify(model)} (row ${rowNumber})`);
    const unlistedCount = unknownModels.length - listedModels.length;

    if (unlistedCount > 0) listedModels.push(`and ${unlistedCount} more`);
    failImport(
      `The dump contains the unknown ${unknownModels.length === 1 ? 'model' : 'models'} ${listedModels.join(', ')}. Export only the models that docs/migrating.md lists, from wger 2.0.`,
    );
  }
}

export function validateDump(value: unknown): DumpRow[] {
  if (!Array.isArray(value)) return failImport('The file must contain a JSON array of rows.');
  const validator = new RowValidator();
  const rows = value.map((row) => validator.validate(row));

  validator.rejectUnknownModels();
  return rows;
}

export type RowIdentity = Pick<DumpRow, 'model' | 'pk'>;

/**
 * Runs `callback`, which writes `rows`, and converts database errors to errors that name the row.
 * In an error of COPY, the line number is the position of the row in `rows`.
 */
export async function nameRowInErrors<T>(
  rows: readonly RowIdentity[],
  callback: () => Promise<T>,
): Promise<T> {
  try {
    return await callback();
  } catch (error) {
    const { code, detail, message, where } = error as {
      code?: string;
      detail?: string;
      message: string;
      where?: string;
    };

    if (!code || !/^2[23]/.test(code)) throw error;
    // Errors without a line number, such as foreign key violations, identify no row. Then the
    // message names the first row.
    const lineNumber = /^COPY \w+, line (\d+)/.exec(where ?? '')?.[1];
    const row = lineNumber === undefined ? undefined : rows[Number(lineNumber) - 1];
    const firstRow = rows[0]!;
    const rowDescription = row
      ? describeRow(row)
      : `${firstRow.model} from ${JSON.stringify(firstRow.pk)} on`;

    return failImport(`${rowDescription}: ${detail ?? message}`);
  }
}
