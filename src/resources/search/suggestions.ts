/** What the searches answer, and the statements that find it. */
import { Ctx, Field, ID, Info, ObjectType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { visible } from '../../core/access';
import { anyOf, binder, equals, whereOf } from '../../core/conditions';
import { MAX_PAGE } from '../../core/connection';
import type { Context } from '../../core/context';
import { fieldOf } from '../../core/fields';
import { loadParent } from '../../core/loaders';
import { has } from '../../core/texts';
import { mediaUrl, thumbnailName } from '../../files/names';
import { Exercise } from '../exercise';
import { Ingredient } from '../ingredient';
import { ACCEPTED } from '../status';

const THUMBNAIL = 'micro_cropped';

interface FoundExercise {
  id: number;
  name: string;
  category: string;
  image: string | null;
}

@ObjectType({ description: 'An exercise that a search found, as a list of suggestions shows it.', simpleResolvers: true })
export class ExerciseHit {
  @Field(() => ID, { description: 'Id of the exercise.' }) readonly id: number;
  @Field(() => String, { description: 'Its name.' }) readonly name: string;
  @Field(() => String, { description: 'Name of its category. Always English.' }) readonly category: string;
  private readonly path: string | null;

  constructor({ id, name, category, image }: FoundExercise) {
    this.id = id;
    this.name = name;
    this.category = category;
    this.path = image;
  }

  @Field(() => String, { nullable: true, description: 'URL of its main image once it is accepted, without scheme and host.' })
  image(): string | null {
    return this.path === null ? null : mediaUrl(this.path);
  }

  @Field(() => String, { nullable: true, description: 'URL of a square of 30 pixels cut out of the main image, without scheme and host.' })
  async imageThumbnail(@Ctx() { media }: Context): Promise<string | null> {
    return this.path === null ? null : mediaUrl(thumbnailName(this.path, THUMBNAIL, await media.hasTransparency(this.path)));
  }
}

@ObjectType({ description: 'An exercise whose name contains the term.', simpleResolvers: true })
export class ExerciseSuggestion {
  @Field(() => String, { description: 'What to suggest: the name.' }) readonly value: string;
  @Field(() => ExerciseHit, { description: 'What to show beside it.' }) readonly data: ExerciseHit;

  constructor(data: ExerciseHit) {
    this.data = data;
    this.value = data.name;
  }

  @Field(() => Exercise, { description: 'The exercise.' })
  exercise(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return loadParent(Exercise, this.data.id, context, info);
  }
}

@ObjectType({ description: 'An ingredient that a search found.', simpleResolvers: true })
export class IngredientHit {
  @Field(() => ID, { description: 'Id of the ingredient.' }) declare id: number;
  @Field(() => String, { description: 'Its name.' }) declare name: string;
}

@ObjectType({ description: 'An ingredient whose name contains the term.', simpleResolvers: true })
export class IngredientSuggestion {
  @Field(() => String, { description: 'What to suggest: the name.' }) readonly value: string;
  @Field(() => IngredientHit, { description: 'The ingredient in short.' }) readonly data: IngredientHit;

  constructor(data: IngredientHit) {
    this.data = data;
    this.value = data.name;
  }

  @Field(() => Ingredient, { description: 'The ingredient.' })
  ingredient(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return loadParent(Ingredient, this.data.id, context, info);
  }
}

/** By category, then by name. */
export async function findExercises(term: string, languages: readonly number[], context: Context): Promise<ExerciseSuggestion[]> {
  const { bind, values } = binder();
  const contains = has(fieldOf(Exercise, 'name'), 'contains', term, true);
  const where = whereOf([contains, anyOf('language_id', languages), ...visible(Exercise, context)], 't', bind);
  const image = `(SELECT i."image" FROM "exercise_image" i WHERE i."exercise_base_id" = t."exercise_base_id" AND i."is_main"
    AND i."status" = '${ACCEPTED}' ORDER BY i."id" LIMIT 1)`;
  const found = await context.session.query(
    `SELECT t."id", t."name", c."name" AS "category", ${image} AS "image" FROM "exercise" t
     JOIN "exercise_base" b ON b."id" = t."exercise_base_id" JOIN "exercise_category" c ON c."id" = b."category_id"${where}
     ORDER BY c."name", t."name", t."id" LIMIT ${MAX_PAGE}`,
    values,
  );
  return found.map((row) => new ExerciseSuggestion(new ExerciseHit(row as FoundExercise)));
}

/** By name. */
export async function findIngredients(term: string, languages: readonly number[], context: Context): Promise<IngredientSuggestion[]> {
  const found =
    (await context.names.find(Ingredient, term, languages, MAX_PAGE, context.session)) ?? (await readIngredients(term, languages, context));
  return found.map((ingredient) => new IngredientSuggestion(ingredient));
}

async function readIngredients(term: string, languages: readonly number[], context: Context): Promise<IngredientHit[]> {
  const contains = has(fieldOf(Ingredient, 'name'), 'contains', term, true);
  // With one language an index has the rows in the order that is wanted.
  const [only, ...others] = languages;
  const spoken = only !== undefined && others.length === 0 ? equals('language_id', only) : anyOf('language_id', languages);
  const { bind, values } = binder();
  const where = whereOf([contains, spoken, ...visible(Ingredient, context)], 't', bind);
  const rows = await context.session.query(
    `SELECT t."id", t."name" FROM "ingredient" t${where} ORDER BY t."name", t."id" LIMIT ${MAX_PAGE}`,
    values,
  );
  return rows as IngredientHit[];
}
