/**
 * The preferred unit system applies to new rows only: a switch changes the meaning of no stored
 * quantity, and the edit of a field changes no other.
 */
import { fieldsOf, type Entity, type EntityField } from '../../src/engine/declare/fields';
import { findEntity, resourceOf } from '../../src/engine/declare/registry';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { updateOf } from '../setup/generic-lists';
import { createOwnedRows, ownedTypes, type OwnedRowIds } from '../setup/owned-rows';
import type { Person } from '../setup/person';
import { toEnumName } from '../setup/sample-values';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ids: OwnedRowIds;

const BODY_WEIGHT = 3;
const preferences = findEntity('UserProfile')!;
const types = ownedTypes().filter((entity) => entity !== preferences);

beforeAll(async () => {
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (2, 'lb'), (3, 'Body Weight') ON CONFLICT DO NOTHING`,
  );
  await fitgraph.reference.reload();
  ann = await fitgraph.user('ann');
  ids = await createOwnedRows(ann);

  for (const table of ['workout_log', 'setting']) {
    await fitgraph.sql(`UPDATE "${table}" SET "weight_unit_id" = ${BODY_WEIGHT}`);
  }
});

const prefer = async (unitSystem: 'METRIC' | 'IMPERIAL') => {
  const { updateProfile } = await ann.ask(
    `mutation { updateProfile(input: { unitSystem: ${unitSystem} }) { errors { message } } }`,
  );

  expect(updateProfile.errors).toEqual([]);
};

/** Stored columns of a row, without those that record the write itself. */
async function storedRow(entity: Entity): Promise<Record<string, unknown>> {
  const [row] = await fitgraph.sql(
    `SELECT to_jsonb(t) - 'version' - 'updated_at' AS "row" FROM "${resourceOf(entity)!.table}" t WHERE "id" = $1`,
    [ids.get(entity)],
  );

  return row!.row as Record<string, unknown>;
}

const FORMULAS = `{
  workoutLogs { nodes { weight weightKg massUnit version oneRepMax intensity } }
  weightEntries { nodes { weight weightKg unit version } }
  strength { total }
  trainingLoad(last: 3, until: "2000-01-03") { load }
  bodyWeightTrend(last: 3) { weight trend }
  nutritionPlans { nodes { nutritionalValues { total { energy protein } } meals { items { amount } } } }
  diaryEntries { nodes { amount nutritionalValues { energy protein } } }
}`;

test('a switch and the switch back change no formula, value or version', async () => {
  const before = await ann.ask(FORMULAS);

  expect(before.workoutLogs.nodes[0]).toMatchObject({ massUnit: 'KG' });
  await prefer('IMPERIAL');
  expect(await ann.ask(FORMULAS)).toEqual(before);
  await prefer('METRIC');
  expect(await ann.ask(FORMULAS)).toEqual(before);
});

/** Numbers and choices, which have a meaning that depends on other fields. */
const quantities = types.flatMap((entity) =>
  fieldsOf(entity).flatMap((field): [string, Entity, EntityField][] =>
    !field.readOnly && field.isColumn && ['decimal', 'integer', 'choice'].includes(field.kind)
      ? [[`${entity.name}.${field.name}`, entity, field]]
      : [],
  ),
);

function otherValue({ kind, choices, min = 1 }: EntityField, stored: unknown): unknown {
  if (kind === 'choice') return choices!.find(({ value }) => value !== stored)!.value;
  if (kind === 'integer') return Math.max(min, 1) + (Number(stored) === Math.max(min, 1) ? 1 : 0);

  return (Number(stored) + 0.25).toFixed(2);
}

describe.each(quantities)(
  'an edit of %s by somebody who now prefers pounds',
  (_name, entity, field) => {
    beforeAll(() => prefer('IMPERIAL'));
    afterAll(() => prefer('METRIC'));

    const { restName, metadata } = resourceOf(entity)!;
    const isInRest = restName !== undefined && !field.restReadOnly && metadata.updateMutationName;

    test.each(isInRest ? ['graphql', 'rest'] : ['graphql'])(
      'changes nothing else (%s)',
      async (api) => {
        const before = await storedRow(entity);
        const value = otherValue(field, before[field.column!]);

        if (api === 'rest') {
          const { status } = await ann.patch(`/${restName}/${ids.get(entity)}/`, {
            [field.restKey]: value,
          });

          expect(status).toBe(200);
        } else {
          const { made } = await ann.ask(updateOf(entity, '{ errors { path message } }'), {
            id: ids.get(entity),
            input: { [field.name]: toEnumName(field, value) },
          });

          expect(made.errors).toEqual([]);
        }

        const after = await storedRow(entity);

        expect(after[field.column!]).not.toEqual(before[field.column!]);
        expect({ ...after, [field.column!]: before[field.column!] }).toEqual(before);
      },
    );
  },
);
