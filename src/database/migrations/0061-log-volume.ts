/** All that the volume of a user's training is worked out of, by day, in an index alone. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`CREATE INDEX "workout_log_volume" ON "workout_log" ("user_id", "date")
    INCLUDE ("exercise_id", "reps", "weight", "rir", "repetition_unit_id", "weight_unit_id")`);
};

export const down: Migration = async (query) => {
  await query('DROP INDEX "workout_log_volume"');
};
