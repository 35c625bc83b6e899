/**
 * The exponential moving average reaches its value once they differ by less than 1e-200. The
 * multiplication of a smaller difference fails in PostgreSQL (underflow), as after seven years
 * without training.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.3.0';

const smoothedFunctionSql = (condition: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_smoothed"("mean" double precision, "value" double precision, "share" double precision) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT CASE WHEN "mean" IS NULL THEN "value" WHEN "value" IS NULL THEN "mean"${condition} ELSE "mean" + "share" * ("value" - "mean") END $$;
`;

export const up: Migration = async (query) => {
  await query(smoothedFunctionSql(` WHEN abs("value" - "mean") < 1e-200 THEN "value"`));
};

export const down: Migration = async (query) => {
  await query(smoothedFunctionSql(''));
};
