/**
 * One active schedule of a user, one accepted main image of an exercise base: the database decides, at the end of a transaction, so that a
 * write may first give the flag and then take it from the other row. Where there were several, the newest keeps it.
 */
import type { Migration } from '../migrate';

const RULES = [
  { table: 'schedule', of: 'user_id', flag: 'is_active', among: '' },
  { table: 'exercise_image', of: 'exercise_base_id', flag: 'is_main', among: ` AND "status" = '2'` },
];

const nameOf = ({ table, flag }: (typeof RULES)[number]) => `${table}_one_${flag}`;

export const up: Migration = async (query) => {
  for (const rule of RULES) {
    const { table, of, flag, among } = rule;
    await query(`
WITH counted AS (SELECT "id", "${of}" FROM "${table}" WHERE "${flag}"${among})
UPDATE "${table}" t SET "${flag}" = false FROM counted c
  WHERE c."id" = t."id" AND EXISTS (SELECT FROM counted newer WHERE newer."${of}" = c."${of}" AND newer."id" > c."id")`);
    await query(`
ALTER TABLE "${table}" ADD CONSTRAINT "${nameOf(rule)}" EXCLUDE ("${of}" WITH =) WHERE ("${flag}"${among}) DEFERRABLE INITIALLY DEFERRED`);
  }
};

export const down: Migration = async (query) => {
  for (const rule of RULES) await query(`ALTER TABLE "${rule.table}" DROP CONSTRAINT "${nameOf(rule)}"`);
};
