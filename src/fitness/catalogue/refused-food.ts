/** Foods that an import has refused, so that a missing barcode can be explained. */
import { Arg, Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../engine/context';
import { createEnumFromEntries } from '../../engine/declare/enums';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { DateTimeScalar } from '../../engine/declare/scalars';
import { checkBarcode, equivalentBarcodes } from './barcode';

export const REFUSAL_REASONS = {
  unreadable: 'The record is not valid JSON, or no UTF-8.',
  nameless: 'There is no name in the chosen languages, or it is shorter than three characters.',
  barcode: 'The check digit of the barcode is wrong.',
  incomplete: 'Energy, protein, carbohydrates or fat is missing.',
  negative: 'A value is negative.',
  excessive: 'A nutrient, or the sum of them, is more than 100 g in 100 g.',
  part: 'Sugar is more than the carbohydrates, or saturated fat more than the fat.',
  energy: 'The energy is more than 900 kcal, or far from what the nutrients contain.',
  duplicate: 'Another food has the barcode.',
} as const;

export type RefusalReason = keyof typeof REFUSAL_REASONS;

/** An unreadable food has no barcode, and that of a duplicate finds another food. */
const REASONS_WITHOUT_BARCODE: readonly string[] = ['unreadable', 'duplicate'];

const RefusalReasonEnum = createEnumFromEntries(
  'RefusalReason',
  'Why a food was not imported.',
  Object.entries(REFUSAL_REASONS)
    .filter(([reason]) => !REASONS_WITHOUT_BARCODE.includes(reason))
    .map(([reason, description]) => [reason.toUpperCase(), reason, description]),
);

@ObjectType({
  description: 'A food of a public table that was not imported.',
  simpleResolvers: true,
})
export class RefusedFood {
  @Field(() => String, { description: 'The name in the table.' }) declare name: string;
  @Field(() => String, { description: 'The table, e.g. Open Food Facts.' })
  declare sourceName: string;
  @Field(() => RefusalReasonEnum, { description: 'Why it was not imported.' })
  declare reason: RefusalReason;
  @Field(() => DateTimeScalar, { description: 'When it was last refused.' })
  declare refusedAt: string;
}

@Resolver()
export class RefusedFoodResolver {
  @Query(() => RefusedFood, {
    nullable: true,
    description:
      'The food with this barcode that the last import refused, for barcodes that `ingredientByBarcode` does not know.',
  })
  @FieldExtensions({ exclusiveTo: 'graphql' })
  async refusedFood(
    @Arg('code', () => String, { description: 'The barcode as printed, e.g. `4006381333931`.' })
    code: string,
    @Ctx() { session }: Context,
  ) {
    checkBarcode(code);
    const [row] = await session.query(
      `SELECT "name", "source_name" AS "sourceName", "reason", "refused_at" AS "refusedAt" FROM "refused_food"
        WHERE "gtin" = ANY(ARRAY(SELECT "gtin"(c) FROM unnest($1::text[]) c)) ORDER BY "refused_at" DESC LIMIT 1`,
      [equivalentBarcodes(code)],
    );

    return row ?? null;
  }
}
