/** Ranking of the foods in the diary by number of entries, weight, energy or nutrients. */
import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { createEnum } from '../../engine/declare/enums';
import type { Row } from '../../database/rows';
import type { SqlCondition } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { RowField } from '../../engine/read/row-field';
import { NutritionalValues } from './values';
import { Ingredient } from '../catalogue/ingredient';
import type { WhereInput } from '../training/workout-logs';
import {
  diaryEntriesSql,
  roundedNutrientColumnsSql,
  collectNutrients,
  DiaryEntryFilterField,
} from './portions';
import {
  lastDayOf,
  queryRanking,
  RANKING_FIELD_EXTENSIONS,
  RankingArgs,
  startOfNextDaySql,
} from '../queries';

const FoodOrder = createEnum('FoodOrder', 'Criteria for ranking foods.', {
  COUNT: 'By the number of entries.',
  GRAMS: 'By weight.',
  ENERGY: 'By energy in kcal.',
  PROTEIN: 'By protein in grams.',
  CARBOHYDRATES: 'By carbohydrates in grams.',
  FAT: 'By fat in grams.',
  FIBRES: 'By fibres in grams.',
});

type FoodOrder = keyof typeof FoodOrder;

@ObjectType({ description: 'The consumption of a food.', simpleResolvers: true })
export class EatenFood {
  @Field(() => ID, { description: 'Id of the food that was eaten.' }) declare ingredientId: number;
  @Field(() => Int, { description: 'Number of diary entries.' }) declare count: number;
  @Field(() => DecimalScalar, { description: 'Amount in grams.' }) declare grams: string;
  @Field(() => NutritionalValues, { description: 'Sum of all its entries.' })
  declare total: NutritionalValues;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'Share of the energy of all foods, in percent; null if that is 0.',
  })
  declare energyShare: string | null;
}

@ArgsType()
class FoodArgs extends RankingArgs {
  @DiaryEntryFilterField declare where?: WhereInput;
  @Field(() => DateScalar, {
    nullable: true,
    description: 'The last day, in the time zone of the account; today if absent.',
  })
  declare until?: string | null;
  @Field(() => FoodOrder, {
    defaultValue: FoodOrder.ENERGY,
    description: 'Criteria for ranking foods.',
  })
  declare by: FoodOrder;
}

@Resolver(() => EatenFood)
@RowField('ingredient', 'ingredientId', () => Ingredient, {
  nullable: true,
  description: 'The food. Null while it has not passed the review.',
})
export class EatenFoodResolver {
  @Query(() => [EatenFood], { description: 'Foods of the diary, largest total first.' })
  @FieldExtensions(RANKING_FIELD_EXTENSIONS)
  async topFoods(@Args(() => FoodArgs) args: FoodArgs, @Ctx() context: Context): Promise<Row[]> {
    const measureSql =
      args.by === FoodOrder.COUNT ? 'count(*)' : `sum(e."${args.by.toLowerCase()}")`;
    const { timeZone } = context;
    const isUntilLastDay: SqlCondition = (alias, bind) =>
      `${alias}."datetime" < ${startOfNextDaySql(bind(lastDayOf(args, context)), bind(timeZone))}`;
    const rows = await queryRanking(
      (bind) => ({
        select: `SELECT e."ingredient_id" AS "ingredientId", count(*)::int AS "count",
          round(sum(e."grams"), 2) AS "grams",
          ${roundedNutrientColumnsSql('total', (name) => `sum(e."${name}")`)},
          ${measureSql} AS "measure",
          round(sum(e."energy") * 100.0 / nullif(sum(sum(e."energy")) OVER (), 0),
          2) AS "energyShare"
          FROM (${diaryEntriesSql(args.where, '', context, bind, [isUntilLastDay])}) e GROUP BY 1`,
        orderTerms: ['"measure" DESC', '"ingredientId"'],
      }),
      args,
      context,
    );

    return rows.map((row) => ({ ...row, total: collectNutrients(row, 'total') }));
  }
}
