/** What accounts use: sessions, tokens, rows and files. */
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { contributorTableOf } from '../engine/access/access';
import { allEntities, resourceOf } from '../engine/declare/registry';
import { imageColumns } from '../files/image-columns';
import { memoize } from '../shared/memoize';

@ObjectType({ description: 'What an account uses.', simpleResolvers: true })
export class AccountUsage {
  declare id: number;
  @Field(() => Int, { description: 'Number of sessions that have not expired.' })
  declare sessionCount: number;
  @Field(() => Int, { description: 'Number of access tokens.' })
  declare accessTokenCount: number;
  @Field(() => Float, { description: 'Number of rows of the user.' }) declare rowCount: number;
  @Field(() => Float, { description: 'Total size of the images of the user, in bytes.' })
  declare imageBytes: number;
}

/** SQL: the usage of the accounts with the ids `$1`. */
export const accountUsageSql = memoize(() => {
  const entities = allEntities();
  const ownedRowCounts = entities
    .map((entity) => resourceOf(entity)!)
    .filter(({ isOwned }) => isOwned)
    .map(
      ({ table, ownerColumn }) =>
        `(SELECT count(*) FROM "${table}" WHERE "${ownerColumn}" = u."id")`,
    );
  const imageSizes = entities
    .filter((entity) => contributorTableOf(entity) && imageColumns([entity]).length)
    .map(
      (entity) =>
        `(SELECT coalesce(sum("bytes"), 0) FROM "${contributorTableOf(entity)}"
          WHERE "user_id" = u."id")`,
    );

  return `SELECT u."id",
    (SELECT count(*) FROM "session" WHERE "user_id" = u."id" AND "expires" > now())::float8
      AS "sessionCount",
    (SELECT count(*) FROM "access_token" WHERE "user_id" = u."id")::float8 AS "accessTokenCount",
    (${ownedRowCounts.join(' + ')})::float8 AS "rowCount",
    (${imageSizes.join(' + ')})::float8 AS "imageBytes"
    FROM unnest($1::int[]) AS u("id")`;
});
