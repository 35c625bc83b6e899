/**
 * A body weight carries the unit in which it was logged. Rows that are there get the one that their owner prefers now. A row that is written without a
 * unit gets that too, unless it is changed and keeps its weight.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
ALTER TABLE "weight_entry" ADD COLUMN "unit" varchar(2) NOT NULL DEFAULT 'kg';
ALTER TABLE "weight_entry" DISABLE TRIGGER USER;
UPDATE "weight_entry" w SET "unit" = 'lb' FROM "user_profile" p WHERE p."user_id" = w."user_id" AND p."weight_unit" = 'lb';
ALTER TABLE "weight_entry" ENABLE TRIGGER USER;
ALTER TABLE "weight_entry" ALTER COLUMN "unit" DROP DEFAULT;

CREATE FUNCTION "fitgraph_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW."weight" = OLD."weight" THEN
    NEW."unit" := OLD."unit";
  ELSE
    NEW."unit" := coalesce((SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = NEW."user_id"), 'kg');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "weight_entry_unit" BEFORE INSERT OR UPDATE ON "weight_entry" FOR EACH ROW WHEN (NEW."unit" IS NULL)
  EXECUTE FUNCTION "fitgraph_weight_unit"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TRIGGER "weight_entry_unit" ON "weight_entry";
DROP FUNCTION "fitgraph_weight_unit"();
ALTER TABLE "weight_entry" DROP COLUMN "unit";
`);
};
