/** Recipes: foods whose nutrients the database computes from the weights of their parts. */
import { Model } from 'sequelize-typescript';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, Resolver } from 'type-graphql';
import { atMostElementsMessage, NOT_EMPTY_MESSAGE } from '../../shared/messages';
import type { Context } from '../../engine/context';
import {
  InvalidInput,
  invalidValueIssue,
  IssueCode,
  throwIfInvalid,
  validationIssue,
} from '../../engine/declare/errors';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { DecimalField, fieldOf, Id } from '../../engine/declare/fields';
import type { FieldValues } from '../../engine/declare/registry';
import { parseRowId } from '../../engine/declare/node';
import { Ref, Resource } from '../../engine/declare/resource';
import { readRowById } from '../../engine/read/rows';
import { createCrudResolver } from '../../engine/schema/crud';
import { creationInputType } from '../../engine/schema/inputs';
import { createPayloadType, runWrite } from '../../engine/schema/payload';
import type { StoredRow } from '../../engine/write/statements';
import { createRows } from '../../engine/write/write';
import { HouseholdUnit, PORTION } from './household-unit';
import { Ingredient } from './ingredient';
import { IngredientUnit } from './ingredient-unit';
import { RECIPE_PART_RULE } from './recipe-rules';

export const MAX_PARTS = 100;
export const MAX_PART_GRAMS = 100_000;

/** Required values of a new food, until the database has computed them. */
const UNKNOWN_NUTRIENTS = { energy: 0, protein: '0', carbohydrates: '0', fat: '0' };

@Resource({
  description: 'A food in a recipe, and its weight.',
  ordering: ['id'],
  hasRootQueries: false,
  writeOperations: [],
  staysWithMergedRow: true,
  crossFieldRules: [RECIPE_PART_RULE],
})
export class RecipePart extends Model<RecipePart> {
  @Id() declare id: number;
  @Ref(() => Ingredient) declare recipeId: number;
  @Ref(() => Ingredient) declare ingredientId: number;
  @DecimalField({
    label: 'Amount in grams',
    maxDigits: 8,
    decimalPlaces: 2,
    min: 0.01,
    max: MAX_PART_GRAMS,
  })
  declare grams: string;
}

const RecipePayload = createPayloadType<StoredRow>({
  isBulk: false,
  name: 'RecipePayload',
  description: 'The created recipe, or the errors in the input.',
  rowsFieldName: 'ingredient',
  rowsFieldType: () => Ingredient,
  readRows: ({ id }, context, info) => readRowById(Ingredient, id, context, info) as never,
});

@InputType({ description: 'A new food that is made of others.' })
class RecipeInput {
  @Field(() => String, { description: 'The name in its own language.' })
  declare readonly name: string;

  @Field(() => ID, { description: 'The `id` of the language.' })
  declare readonly languageId: string;

  @Field(() => Int, {
    nullable: true,
    description: `Number of portions that it gives. If set, it gets a unit \`${PORTION}\` with their weight.`,
  })
  declare readonly portions?: number | null;

  @Field(() => [creationInputType(RecipePart, 'recipeId')], {
    description: `Foods and their weights, at most ${MAX_PARTS}.`,
  })
  declare readonly parts: FieldValues[];
}

/** A household unit of a new recipe, whose weight the database computes. */
function portionUnit(portions: number, { services, timeZone }: Context): FieldValues {
  const unit = services.catalogue.rowsOf(HouseholdUnit).find(({ name }) => name === PORTION);
  const issues = unit
    ? fieldOf(IngredientUnit, 'portions').findIssues(portions, timeZone)
    : [invalidValueIssue(`There is no household unit "${PORTION}".`)];

  throwIfInvalid(issues.map((issue) => ({ path: ['input', 'portions'], ...issue })));
  return { householdUnitId: unit!.id, grams: '0', portions };
}

@Resolver(() => RecipePart)
export default class RecipePartResolver extends createCrudResolver(RecipePart, {
  /**
   * The parts are all those of one recipe, because they are written with it. Locks their foods
   * before the recipe, like writes of a food, which compute its recipes (migration 0106).
   */
  async onTransactionStart(parts, _context, transaction) {
    if (parts.length > MAX_PARTS) {
      const path = parts[0]!.path!.slice(0, -1);

      throw new InvalidInput([{ path, ...invalidValueIssue(atMostElementsMessage(MAX_PARTS)) }]);
    }

    await transaction.query(
      'SELECT FROM "ingredient" WHERE "id" = ANY($1::int[]) ORDER BY "id" FOR SHARE',
      [parts.flatMap(({ input }) => parseRowId(input?.ingredientId) ?? [])],
    );
  },
}) {
  @Mutation(() => RecipePayload, {
    nullable: true,
    description:
      'Creates a recipe: a food made of other foods, whose nutrients and portions are computed from their weights. Pending review, unless the viewer is a curator. `updateIngredient` changes its parts.',
  })
  @FieldExtensions({ onlyWritesRows: true, exclusiveTo: 'graphql' })
  createRecipe(
    @Arg('input', () => RecipeInput, { description: 'The values.' })
    { portions, ...values }: RecipeInput,
    @Ctx() context: Context,
  ): Promise<object> {
    return runWrite(async () => {
      const emptyIssue = {
        path: ['input', 'parts'],
        ...validationIssue(IssueCode.EMPTY, NOT_EMPTY_MESSAGE),
      };

      throwIfInvalid(values.parts.length ? [] : [emptyIssue]);
      const input = {
        ...UNKNOWN_NUTRIENTS,
        ...values,
        units: portions == null ? [] : [portionUnit(portions, context)],
      };
      const [recipe] = await createRows(Ingredient, [{ input, path: ['input'] }], 'input', context);

      return recipe!;
    });
  }
}
