/**
 * Creates rows of every type for two users, with many nulls and repeated values, to test filters
 * and orders.
 */
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../../src/engine/declare/fields';
import { ORDER_BY_ID } from '../../src/engine/sql/ordering';
import { columnSet, buildSelectStatement } from '../../src/engine/sql/select';
import { findEntity, resourceOf } from '../../src/engine/declare/registry';
import {
  validateDump,
  entitiesByDumpModel,
  sortByDependency,
  type DumpRow,
} from '../../src/transfer/dump';
import { importDumpRows } from '../../src/transfer/importer';
import type { Fitgraph } from './fitgraph';
import type { Person } from './person';
import { randomFor, type Random } from './random';
import { dumpRowOf } from './sample-values';

/** Number of rows of each type per user, and of public rows. */
export const SIZE = 14;

const isAccount = (entity: Entity) =>
  entity === findEntity('User') || entity === findEntity('UserProfile');

/** Returns the types that have a population. */
export const populatedEntities = (): Entity[] =>
  sortByDependency(entitiesByDumpModel()).filter((entity) => !isAccount(entity));

const TEXTS = [
  'Squat',
  'squat',
  'Front squat',
  'Bench press',
  'BENCH',
  'Möhre',
  'MÖHRE',
  '100%',
  '100 %',
  'snake_case',
  'a\\b',
  'Ab',
  'ΟΔΟΣ',
] as const;

/** Whether a row of a reviewed type is accepted; every seventh is not. */
const isAccepted = (index: number) => index % 7 !== 6;

/**
 * Returns a value of the field for the row with this index; undefined for fields that keep the
 * value of the sample.
 */
function value(entity: Entity, field: EntityField, index: number, random: Random): unknown {
  if (resourceOf(entity)!.uniqueFields?.includes(field.name)) return undefined;
  if (field.allowNull && random.chance(0.35)) return null;
  const published = resourceOf(entity)!.publishedColumnValues?.[field.column!];

  if (published === false) return false;
  if (published) return isAccepted(index) ? published : '1';
  const low = Math.max(field.min ?? 1, 1);

  switch (field.kind) {
    case 'integer':
      return random.int(low, low + 4);
    case 'decimal':
      return `${random.int(low, low + 3)}.${random.pick(['00', '50', '05'])}`;
    case 'boolean':
      return random.chance(0.5);
    case 'date':
      return `2021-0${random.int(1, 3)}-1${random.int(0, 2)}`;
    case 'time':
      return `0${random.int(7, 9)}:30:00${random.pick(['', '.5'])}`;
    case 'datetime':
      return `2021-03-1${random.int(0, 2)}T0${random.int(6, 8)}:00:00${random.pick(['Z', '+01:00', '.000001Z'])}`;
    case 'choice':
      return random.pick([
        ...Object.values(field.enum!.type),
        ...(field.allowBlank ? [''] : []),
      ] as [string]);
    case 'string':
      return (field.minLength ?? 0) > 5
        ? `${random.pick(TEXTS)} ${'x'.repeat(field.minLength!)}`
        : random.pick(TEXTS).slice(0, field.maxLength);
    default:
      return undefined;
  }
}

/**
 * Creates two users. New profiles reference the language 2, which is then replaced so that the
 * population can use its id.
 */
async function twoPeople(fitgraph: Fitgraph): Promise<[Person, Person]> {
  await fitgraph.sql(
    `INSERT INTO "language" ("id", "short_name", "full_name") VALUES (2, 'xx', 'For a moment'), (99, 'yy', 'Of profiles')`,
  );
  const people: [Person, Person] = [await fitgraph.user('ann'), await fitgraph.user('bob')];

  await fitgraph.sql('UPDATE "user_profile" SET "notification_language_id" = 99');
  await fitgraph.sql('DELETE FROM "language" WHERE "id" = 2');
  return people;
}

/**
 * Fills empty tables. The ids of public rows and of the first user's rows are 1 to SIZE, those of
 * the second user follow. The rows of each type come from a random stream of their own, which
 * depends on `name`.
 */
export async function populate(fitgraph: Fitgraph, name: string): Promise<[Person, Person]> {
  const people = await twoPeople(fitgraph);
  const rows: DumpRow[] = populatedEntities().flatMap((entity) => {
    const random = randomFor(`${name}: rows of ${entity.name}`);
    // Each row references a different parent, so that few rows are hidden together with their
    // parents.
    const wholes = random.shuffled(Array.from({ length: SIZE }, (_, index) => 1 + index));
    const owners = resourceOf(entity)!.isOwned ? [0, 1] : [0];

    return owners.flatMap((owner) =>
      Array.from({ length: SIZE }, (_, index) => {
        const number = owner * SIZE + index + 1;
        const row = dumpRowOf(entity, number, (field) => {
          const target = field.target!();

          if (target === findEntity('User')) return people[owner]!.id;
          const start = resourceOf(target)!.isOwned ? owner * SIZE : 0;

          if (field.name === resourceOf(entity)!.visibilityParentFieldName) return wholes[index];
          const any = () => start + random.int(1, SIZE);

          if (field.relation!.isToMany) {
            return [...new Set([any(), any()].slice(0, random.int(1, 2)))];
          }

          return field.allowNull && random.chance(0.35) ? null : any();
        });

        for (const field of fieldsOf(entity)) {
          const fieldValue =
            field.isColumn && !field.setByDatabase && !field.relation && field.name !== 'id'
              ? value(entity, field, index, random)
              : undefined;

          if (fieldValue !== undefined) row.fields[field.restKey] = fieldValue;
        }

        return row;
      }),
    );
  });
  // An entry belongs to the plan of its meal.
  const plans = new Map(
    rows.flatMap(({ model, pk, fields }) =>
      model === 'nutrition.meal' ? [[pk, fields.plan]] : [],
    ),
  );

  for (const { model, fields } of rows) {
    if (model === 'nutrition.logitem' && fields.meal) {
      fields.plan = plans.get(fields.meal as number);
    }
  }

  await importDumpRows(validateDump(rows), fitgraph.database, { tokenVault: fitgraph.tokenVault });
  await fitgraph.reference.reload();
  return people;
}

export type Row = Record<string, any>;

/** Returns all rows of a type with all their fields, regardless of who may see them. */
export const everyRow = (fitgraph: Fitgraph, entity: Entity): Promise<Row[]> =>
  // prettier-ignore
  fitgraph.sql(buildSelectStatement({ columns: columnSet(entity, fieldsOf(entity).map(({ name }) => name), 'unicode'), order: [ORDER_BY_ID] }));

/** Whether a row is visible to everyone: it has passed the review, and so have its parents. */
export function isPublished(
  entity: Entity,
  row: Row,
  rowsOf: (entity: Entity) => Iterable<Row>,
): boolean {
  const {
    publishedColumnValues: publishedColumnValues = {},
    visibilityParentFieldName: visibilityParentFieldName,
  } = resourceOf(entity)!;
  const hasPublishedValue = ([column, value]: [string, string | boolean]) =>
    row[fieldsOf(entity).find((field) => field.column === column)!.name] === value;

  if (!Object.entries(publishedColumnValues).every(hasPublishedValue)) return false;
  if (!visibilityParentFieldName) return true;
  const target = fieldOf(entity, visibilityParentFieldName).target!();

  return [...rowsOf(target)].some(
    (whole) => whole.id === row[visibilityParentFieldName] && isPublished(target, whole, rowsOf),
  );
}
