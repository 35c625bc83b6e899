/** Contributions: rows of the catalogue that users create, and how many a user may create a day. */
import { ADVISORY_LOCK_CLASSES } from '../../database/advisory-locks';
import type { Transaction } from '../../database/transaction';
import { contributorTableOf, isCurator } from '../access/access';
import type { Context } from '../context';
import { ClientError } from '../declare/errors';
import type { Entity } from '../declare/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../declare/registry';
import { isMergeable } from './references';

const MAX_DAILY_CONTRIBUTIONS = 100;
const SECONDS_PER_DAY = 86_400;

const COUNT_CONTRIBUTIONS_SQL = `SELECT count(*)::int AS "count" FROM "catalogue_change"
  WHERE "user_id" = $1 AND "at" > now() - interval '1 day' AND "operation" = 'INSERT'
    AND "table" = ANY($2)`;

/**
 * Records the contributor of rows that the transaction has inserted. Rows of curators have none,
 * except images. Throws TOO_MANY_REQUESTS if the user has contributed too many within a day.
 */
export async function recordContributions(
  entity: Entity,
  ids: readonly number[],
  { context, transaction }: { context: Context; transaction: Transaction },
): Promise<void> {
  const contributorTable = contributorTableOf(entity);

  if (!contributorTable) return;
  const viewer = context.viewer!;

  if (isMergeable(entity)) {
    if (isCurator(context, 'write')) return;
    const tables = allEntities()
      .filter(isMergeable)
      .map((contributed) => resourceOf(contributed)!.table);

    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [
      ADVISORY_LOCK_CLASSES.contribution,
      viewer.id,
    ]);
    const [row] = await transaction.query(COUNT_CONTRIBUTIONS_SQL, [viewer.id, tables]);

    if (row!.count > MAX_DAILY_CONTRIBUTIONS) {
      throw new ClientError(
        'TOO_MANY_REQUESTS',
        `You can contribute ${MAX_DAILY_CONTRIBUTIONS} foods and exercises a day. Try again later.`,
        { retryAfter: SECONDS_PER_DAY },
      );
    }

    viewer.hasContributions = true;
  }

  await transaction.query(
    `INSERT INTO "${contributorTable}" ("row_id", "${OWNER_FIELD.column}")
      SELECT unnest($1::int[]), $2`,
    [ids, viewer.id],
  );
}
