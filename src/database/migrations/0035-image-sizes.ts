/** How many bytes of images each user has added, so that it can be bounded. What was there before counts as nothing. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`ALTER TABLE "exercise_image_contributor" ADD COLUMN "bytes" bigint NOT NULL DEFAULT 0 CHECK ("bytes" >= 0)`);
};

export const down: Migration = async (query) => {
  await query('ALTER TABLE "exercise_image_contributor" DROP COLUMN "bytes"');
};
