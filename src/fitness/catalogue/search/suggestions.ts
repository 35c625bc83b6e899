/** Search hits of exercises and ingredients, and the SQL statements that find them. */
import { Ctx, Field, ID, ObjectType } from 'type-graphql';
import { FieldExtensions } from '../../../engine/declare/field-extensions';
import { visibleRowConditions } from '../../../engine/access/access';
import {
  columnIsOneOf,
  createParameterBinder,
  columnEquals,
  whereClause,
  type SqlCondition,
} from '../../../engine/access/conditions';
import { MAX_PAGE_SIZE } from '../../../shared/page-size';
import type { Context } from '../../../engine/context';
import { fieldOf, type Entity } from '../../../engine/declare/fields';
import {
  bindOrderTerms,
  parseOrderField,
  orderTerms,
  orderByClause,
} from '../../../engine/sql/ordering';
import { resourceOf } from '../../../engine/declare/registry';
import { textMatchCondition } from '../../../engine/sql/text-search';
import { mediaUrl, thumbnailPath } from '../../../files/paths';
import { ExerciseTranslation } from '../exercise-translation';
import { Ingredient } from '../ingredient';
import { ACCEPTED_STATUS } from '../review-status';

const THUMBNAIL_ALIAS = 'micro_cropped';

@ObjectType({ description: 'An exercise found by a search.', simpleResolvers: true })
export class ExerciseHit {
  @Field(() => ID, { description: 'Id of the translation.' })
  declare readonly translationId: number;
  @Field(() => String, { description: 'The name in its own language.' })
  declare readonly name: string;
  @Field(() => String, { description: 'Name of its category. Always English.' })
  declare readonly category: string;

  /** Path of the main image, relative to the media folder. */
  declare readonly imagePath: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'URL of its main image once it is accepted, without scheme and host.',
  })
  image(@Ctx() { request }: Context): string | null {
    return this.imagePath === null ? null : mediaUrl(request.basePath, this.imagePath);
  }

  @Field(() => String, {
    nullable: true,
    description: 'URL of a 30 × 30 pixel thumbnail of the main image, without scheme and host.',
  })
  async imageThumbnail(@Ctx() { request, services }: Context): Promise<string | null> {
    const { imagePath } = this;

    if (imagePath === null) return null;
    const isPng = await services.media.hasPngThumbnails(imagePath);

    return mediaUrl(request.basePath, thumbnailPath(imagePath, THUMBNAIL_ALIAS, isPng));
  }

  @Field(() => ExerciseHit, {
    description: 'The result itself, in the shape that autocomplete widgets expect.',
  })
  @FieldExtensions({ exclusiveTo: 'rest' })
  data(): ExerciseHit {
    return this;
  }
}

@ObjectType({ description: 'An ingredient found by a search.', simpleResolvers: true })
export class IngredientHit {
  @Field(() => ID, { description: 'Id of the ingredient.' }) declare readonly ingredientId: number;
  @Field(() => String, { description: 'The name in its own language.' })
  declare readonly name: string;

  @Field(() => IngredientHit, {
    description: 'The result itself, in the shape that autocomplete widgets expect.',
  })
  @FieldExtensions({ exclusiveTo: 'rest' })
  data(): IngredientHit {
    return this;
  }
}

const nameFields = {
  exercise: () => fieldOf(ExerciseTranslation, 'name'),
  ingredient: () => fieldOf(Ingredient, 'name'),
};

const defaultOrderSql = (entity: Entity, { policies: { textOrder } }: Context): string =>
  orderByClause(
    bindOrderTerms(
      orderTerms(entity, resourceOf(entity)!.ordering.map(parseOrderField), { textOrder }),
      String,
    ),
  );

/** Reads the visible exercises in the given languages that satisfy a condition on their name. */
async function readExercises(
  nameCondition: SqlCondition,
  orderSql: SqlCondition,
  languageIds: readonly number[],
  context: Context,
): Promise<ExerciseHit[]> {
  const { bind, values } = createParameterBinder();
  const where = whereClause(
    [
      nameCondition,
      columnIsOneOf('language_id', languageIds),
      ...visibleRowConditions(ExerciseTranslation, context),
    ],
    't',
    bind,
  );
  const imageSql = `(SELECT i."image" FROM "exercise_image" i
    WHERE i."exercise_base_id" = t."exercise_base_id" AND i."is_main"
    AND i."status" = '${ACCEPTED_STATUS}' ORDER BY i."id" LIMIT 1)`;
  const rows = await context.session.query(
    `SELECT t."id" AS "translationId", t."name", c."name" AS "category", ${imageSql} AS "imagePath"
      FROM "exercise" t
     JOIN "exercise_base" b ON b."id" = t."exercise_base_id" JOIN "exercise_category" c
       ON c."id" = b."category_id"${where}
     ORDER BY ${orderSql('t', bind)}, ${defaultOrderSql(ExerciseTranslation, context)} LIMIT ${MAX_PAGE_SIZE}`,
    values,
  );

  return rows as ExerciseHit[];
}

/** Finds visible exercises by a part of their name, ordered by category, then by name. */
export function findExercises(
  term: string,
  languageIds: readonly number[],
  context: Context,
): Promise<ExerciseHit[]> {
  return readExercises(
    textMatchCondition(nameFields.exercise(), 'contains', term, true),
    () => 'c."name"',
    languageIds,
    context,
  );
}

/** Finds visible ingredients by a part of their name, ordered by name. */
export async function findIngredients(
  term: string,
  languageIds: readonly number[],
  context: Context,
): Promise<IngredientHit[]> {
  const containsCondition = textMatchCondition(nameFields.ingredient(), 'contains', term, true);
  // A single language is compared with `=`, so that PostgreSQL can read the rows from an index in
  // the order of their names.
  const [languageId, ...otherLanguageIds] = languageIds;
  let inLanguagesCondition = columnIsOneOf('language_id', languageIds);

  if (languageId !== undefined && otherLanguageIds.length === 0) {
    inLanguagesCondition = columnEquals('language_id', languageId);
  }

  const { bind, values } = createParameterBinder();
  const where = whereClause(
    [containsCondition, inLanguagesCondition, ...visibleRowConditions(Ingredient, context)],
    't',
    bind,
  );
  const orderSql = defaultOrderSql(Ingredient, context);
  const rows = await context.session.query(
    `SELECT t."id" AS "ingredientId", t."name" FROM "ingredient" t${where} ORDER BY ${orderSql}
      LIMIT ${MAX_PAGE_SIZE}`,
    values,
  );

  return rows as IngredientHit[];
}
