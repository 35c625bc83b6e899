/**
 * Aggregate function for analyses: the exponential moving average. As a window function, it returns
 * the average up to each row.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE FUNCTION "fitgraph_smoothed"("mean" double precision, "value" double precision, "share" double precision) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT CASE WHEN "mean" IS NULL THEN "value" WHEN "value" IS NULL THEN "mean" ELSE "mean" + "share" * ("value" - "mean") END $$;
CREATE AGGREGATE "fitgraph_exponential_mean"(double precision, double precision) (SFUNC = "fitgraph_smoothed", STYPE = double precision);
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP AGGREGATE "fitgraph_exponential_mean"(double precision, double precision);
DROP FUNCTION "fitgraph_smoothed"(double precision, double precision, double precision);
`);
};
