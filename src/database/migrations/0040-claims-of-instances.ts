/** Which instance has claimed an Idempotency-Key, so that it is free once that one is gone. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query('ALTER TABLE "idempotency_key" ADD COLUMN "instance" integer');
};

export const down: Migration = async (query) => {
  await query('ALTER TABLE "idempotency_key" DROP COLUMN "instance"');
};
