/** Every instance keeps names of ingredients in memory, and reads them again soon after a change. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE FUNCTION "fitgraph_names_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('fitgraph_names', TG_TABLE_NAME);
  RETURN NULL;
END $$;
CREATE TRIGGER "ingredient_names_changed" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "ingredient"
  FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_names_changed"();
`);
};

export const down: Migration = async (query) => {
  await query('DROP FUNCTION "fitgraph_names_changed"() CASCADE');
};
