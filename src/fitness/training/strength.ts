/**
 * Relative strength: the total of the best lifts, and its DOTS score, which allows for body weight.
 */
import { Args, ArgsType, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { REQUESTED_UNIT_NOTE } from '../mass-units';
import type { Row } from '../../database/rows';
import { hasReadScope, ownerConditions } from '../../engine/access/access';
import {
  createParameterBinder,
  whereClause,
  type ParameterBinder,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { DateScalar, DecimalScalar } from '../../engine/declare/scalars';
import { MASS_UNIT_CHOICES } from '../body/mass-unit';
import { GENDER_CHOICES, UserProfile } from '../../accounts/user-profile';
import { workoutLogsSql, WorkoutLogFilterField, type WhereInput } from './workout-logs';
import {
  MASS_CALCULATION_CROSS_REFERENCE,
  bodyMassSql,
  OUTPUT_UNIT_ARGUMENT_OPTIONS,
  roundedMassInUnitSql,
} from '../masses';
import { FORMULA_ARGUMENT_OPTIONS, OneRepMaxFormula, oneRepMaxSql } from './one-rep-max';
import { ANALYSIS_FIELD_EXTENSIONS, lastDayOf, UNTIL_ARGUMENT_OPTIONS } from '../queries';

/**
 * DOTS formulas by gender. The coefficients belong to a polynomial of the body weight in kg, from
 * the fourth power down to the constant. Body weights above the maximum count as the maximum.
 */
const DOTS_FORMULAS = [
  {
    gender: GENDER_CHOICES.type.MALE!,
    maxBodyWeightKg: 210,
    coefficients: ['-0.0000010930', '0.0007391293', '-0.1918759221', '24.0900756', '-307.75076'],
  },
  {
    gender: GENDER_CHOICES.type.FEMALE!,
    maxBodyWeightKg: 150,
    coefficients: ['-0.0000010706', '0.0005158568', '-0.1126655495', '13.6175032', '-57.96288'],
  },
];
const MIN_BODY_WEIGHT_KG = 40;

@ArgsType()
class StrengthArgs {
  @WorkoutLogFilterField('Filters the logs, for example to squat, bench press and deadlift.')
  declare where?: WhereInput;
  @Field(() => DateScalar, UNTIL_ARGUMENT_OPTIONS) declare until?: string | null;
  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Use estimated one-rep maxes instead of lifted weights.',
  })
  declare estimated: boolean;
  @Field(() => OneRepMaxFormula, FORMULA_ARGUMENT_OPTIONS) declare formula: OneRepMaxFormula;
  @Field(() => GENDER_CHOICES.type, {
    nullable: true,
    description: 'Gender for the formula; that of the profile if absent.',
  })
  declare gender?: string | null;
  @Field(() => MASS_UNIT_CHOICES.type, OUTPUT_UNIT_ARGUMENT_OPTIONS) declare unit: string;
}

@ObjectType({
  description: 'Total of the best lifts of several exercises, and its relation to the body weight.',
  simpleResolvers: true,
})
export class Strength {
  @Field(() => DecimalScalar, {
    description: `Sum of the best lifts of all exercises, ${REQUESTED_UNIT_NOTE}.`,
  })
  declare total: string;
  @Field(() => DateScalar, { description: 'The day of the latest of these lifts.' })
  declare date: string;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: `Body weight of the entry nearest to that day, ${REQUESTED_UNIT_NOTE}.`,
  })
  declare bodyWeight: string | null;
  @Field(() => DecimalScalar, {
    nullable: true,
    description: 'DOTS points; null without a body weight or a gender.',
  })
  declare dots: string | null;
}

const dotsScoreSql = (genderValueSql: string): string => {
  const whenClauses = DOTS_FORMULAS.map(({ gender, maxBodyWeightKg, coefficients }) => {
    const bodyWeightSql = `greatest(${MIN_BODY_WEIGHT_KG}, least(${maxBodyWeightKg}, s."body"))`;

    // Horner's method.
    const polynomialSql = coefficients.reduce(
      (sql, coefficient) => `(${sql}) * ${bodyWeightSql} + ${coefficient}`,
    );

    return `WHEN '${gender}' THEN ${polynomialSql}`;
  });

  return `CASE WHEN s."body" > 0
    THEN s."total" * 500 / CASE ${genderValueSql} ${whenClauses.join(' ')} END END`;
};

function genderSql({ gender }: StrengthArgs, context: Context, bind: ParameterBinder): string {
  if (gender != null) return `${bind(gender)}::text`;
  if (!hasReadScope(UserProfile, context)) return 'NULL';

  return `(SELECT f."gender"
    FROM "user_profile" f${whereClause(ownerConditions(UserProfile, context), 'f', bind)})`;
}

@Resolver()
export class StrengthResolver {
  @Query(() => Strength, {
    nullable: true,
    description: `The sum of the viewer's best lifts in all exercises of these logs, and the DOTS points of this sum: total × 500 / (a w⁴ + b w³ + c w² + d w + e) with the body weight w in kg, limited to ${MIN_BODY_WEIGHT_KG} to ${DOTS_FORMULAS.map(({ maxBodyWeightKg }) => maxBodyWeightKg).join(' and ')}. (Konertz for the Bundesverband Deutscher Kraftdreikämpfer, 2019) Null if there are no logs. ${MASS_CALCULATION_CROSS_REFERENCE}`,
  })
  @FieldExtensions(ANALYSIS_FIELD_EXTENSIONS)
  async strength(
    @Args(() => StrengthArgs) args: StrengthArgs,
    @Ctx() context: Context,
  ): Promise<Row | null> {
    const { where, estimated, formula, unit } = args;
    const { bind, values } = createParameterBinder();
    const isUntilLastDay: SqlCondition = (alias) =>
      `${alias}."date" <= ${bind(lastDayOf(args, context))}::date`;
    const logsSql = workoutLogsSql(where, context, bind, undefined, [isUntilLastDay]);
    const [row] = await context.session.query(
      `SELECT ${roundedMassInUnitSql(unit, 's."total"')} AS "total", s."date",
        ${roundedMassInUnitSql(unit, 's."body"')} AS "bodyWeight",
        round(${dotsScoreSql(genderSql(args, context, bind))}, 2) AS "dots"
        FROM (SELECT b.*, ${bodyMassSql('b."date"', context, bind)} AS "body"
          FROM (SELECT sum(e."best") AS "total", max(e."date") AS "date"
          FROM (SELECT DISTINCT ON (l."exercise") l."date", l."best"
            FROM (SELECT l.*,
            ${estimated ? oneRepMaxSql(formula, 'l') : 'CASE WHEN l."reps" >= 1 THEN l."mass" END'}
            AS "best"
            FROM (${logsSql}) l) l
              WHERE l."best" > 0 ORDER BY l."exercise", l."best" DESC, l."date") e) b) s
              WHERE s."total" IS NOT NULL`,
      values,
    );

    return row ?? null;
  }
}
