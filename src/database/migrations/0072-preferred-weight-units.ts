/** A planned or logged set that comes without a unit of weight gets kilograms or pounds, as its owner prefers. */
import type { Migration } from '../migrate';

const TABLES = ['setting', 'workout_log'];

export const up: Migration = async (query) => {
  await query(`
CREATE FUNCTION "fitgraph_preferred_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."weight_unit_id" := CASE (SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = NEW."user_id") WHEN 'lb' THEN 2 ELSE 1 END;
  RETURN NEW;
END $$;
${TABLES.map(
  (table) => `CREATE TRIGGER "${table}_preferred_weight_unit" BEFORE INSERT ON "${table}" FOR EACH ROW WHEN (NEW."weight_unit_id" IS NULL)
  EXECUTE FUNCTION "fitgraph_preferred_weight_unit"();`,
).join('\n')}
`);
};

export const down: Migration = async (query) => {
  await query(`
${TABLES.map((table) => `DROP TRIGGER "${table}_preferred_weight_unit" ON "${table}";`).join('\n')}
DROP FUNCTION "fitgraph_preferred_weight_unit"();
`);
};
