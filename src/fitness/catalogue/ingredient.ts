import type { GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, FieldResolver, ID, Info, Query, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import { atLeastMessage, NOT_A_CHOICE_MESSAGE } from '../../shared/messages';
import { visibleRowConditions } from '../../engine/access/access';
import { columnIsOneOf, createParameterBinder, whereClause } from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  invalidArgumentError,
  invalidArgumentsError,
  type ArgumentError,
} from '../../engine/declare/errors';
import {
  BooleanField,
  ChoiceField,
  DateField,
  DecimalField,
  defaultValues,
  Id,
  DateTimeField,
  TextField,
  UrlField,
  IntegerField,
  type RowFields,
} from '../../engine/declare/fields';
import { Children, Ref, Resource } from '../../engine/declare/resource';
import { parseRowId, rejectNodeIdOfOtherType, resolveRowId } from '../../engine/declare/node';
import { loadReferencedRow, loadRowFields } from '../../engine/read/loaders';
import { RequiresFields } from '../../engine/read/query-plan';
import { DecimalScalar } from '../../engine/declare/scalars';
import {
  FormNutritionalValues,
  NutritionalValues,
  formatNutritionalValues,
  amountInGrams,
  NUTRIENTS,
  NUTRIENT_REST_KEYS,
  NUTRITIONAL_VALUES_SELECTION,
  computePortionNutrition,
  type HouseholdMeasure,
} from '../nutrition/values';
import { parseFormInteger, parseInteger, pythonStrip } from '../../rest/drf/python-scalars';
import { withDecimalPoint } from '../../rest/drf/localized-input';
import { amountErrorMessage } from '../nutrition/amount';
import { DiaryEntry } from '../nutrition/diary-entry';
import { MealItem } from '../nutrition/meal-item';
import {
  checkBarcode,
  equivalentBarcodes,
  MAX_BARCODE_LENGTH,
  UNIQUE_BARCODE_RULE,
} from './barcode';
import { IngredientUnit } from './ingredient-unit';
import { Language } from './language';
import { License, LICENSE_AUTHOR_FIELD_OPTIONS } from './license';
import { RecipePart } from './recipe';
import { ACCEPTED_PARTS_RULE } from './recipe-rules';
import {
  addReviewValues,
  PENDING_STATUS,
  PUBLISHED_COLUMN_VALUES,
  REFUSAL_REASON_FIELD_OPTIONS,
  RETIRED_FIELD_OPTIONS,
  REVIEW_STATUS_FIELD_OPTIONS,
} from './review-status';
import { requestedLanguageIds, searchPreferences } from './search-preferences';

export const HOUSEHOLD_MEASURE_FIELDS = ['amount', 'gram', 'ingredientId'] as const;
const NONEXISTENT_INGREDIENT_ID = 0;

const NUTRIENT_FIELD_OPTIONS = {
  helpText: 'In g per 100 g of product.',
  maxDigits: 6,
  decimalPlaces: 3,
  min: 0,
  max: 100,
} as const;
const OPTIONAL_TEXT_FIELD_OPTIONS = {
  allowNull: true,
  allowBlank: true,
  hiddenInRest: true,
} as const;
const filterFieldNames = [
  'carbohydrates',
  'sugar',
  'createdOn',
  'energy',
  'fat',
  'saturatedFat',
  'fibres',
  'name',
  'protein',
  'sodium',
  'status',
  'updatedOn',
  'languageId',
  'licenseId',
  'licenseAuthor',
];

@Resource({
  restName: 'ingredient',
  inReference: { apiRootPosition: 22 },
  dumpModelName: 'nutrition.ingredient',
  hasBulkMutations: true,
  description: 'A food, with its nutrition values per 100 g.',
  ordering: ['name'],
  groupKeyPaths: {},
  publishedColumnValues: PUBLISHED_COLUMN_VALUES,
  pendingColumnValues: { status: PENDING_STATUS },
  crossFieldRules: [UNIQUE_BARCODE_RULE, ACCEPTED_PARTS_RULE],
  searchPreferences: searchPreferences('ingredient_id', () => [DiaryEntry, MealItem]),
  filters: filterFieldNames,
  views: {
    ingredientinfo: {
      inReference: { apiRootPosition: 29 },
      title: 'Ingredient Info',
      filters: filterFieldNames,
      graphqlSelection: `id name creation_date: createdOn update_date: updatedOn energy protein carbohydrates
        carbohydrates_sugar: sugar fat fat_saturated: saturatedFat fibres sodium license { ...license }
        license_author: licenseAuthor ingredientweightunit_set: units { gram amount unit: householdUnit { id name language: languageId } }
        language { ...language }`,
    },
  },
})
export class Ingredient extends Model<Ingredient> {
  @Id() declare id: number;
  @TextField({
    label: 'Name',
    description: 'The name in its own language.',
    min: 3,
    max: 200,
    indexedForSearch: true,
    searchedWithColumns: ['common_name', 'brand'],
    indexedForSorting: true,
  })
  declare name: string;
  @DateField({
    label: 'Date',
    columnAndRestKey: 'creation_date',
    description: 'The day on which it was contributed.',
    readOnly: true,
    default: defaultValues.today,
  })
  declare createdOn: string;
  @DateField({
    label: 'Date',
    columnAndRestKey: 'update_date',
    description: 'The day of its last change.',
    readOnly: true,
    default: defaultValues.today,
  })
  declare updatedOn: string;
  @IntegerField({
    label: 'Energy',
    helpText: 'In kcal per 100 g.',
    min: MIN_INTEGER,
    max: MAX_INTEGER,
  })
  declare energy: number;
  @DecimalField({ label: 'Protein', ...NUTRIENT_FIELD_OPTIONS }) declare protein: string;
  @DecimalField({ label: 'Carbohydrates', ...NUTRIENT_FIELD_OPTIONS })
  declare carbohydrates: string;
  @DecimalField({
    label: 'Sugar content in carbohydrates',
    columnAndRestKey: NUTRIENT_REST_KEYS.sugar,
    ...NUTRIENT_FIELD_OPTIONS,
    allowNull: true,
  })
  declare sugar: string | null;
  @DecimalField({ label: 'Fat', ...NUTRIENT_FIELD_OPTIONS }) declare fat: string;
  @DecimalField({
    label: 'Saturated fat content in fats',
    columnAndRestKey: NUTRIENT_REST_KEYS.saturatedFat,
    ...NUTRIENT_FIELD_OPTIONS,
    allowNull: true,
  })
  declare saturatedFat: string | null;
  @DecimalField({ label: 'Fibres', ...NUTRIENT_FIELD_OPTIONS, allowNull: true })
  declare fibres: string | null;
  @DecimalField({ label: 'Sodium', ...NUTRIENT_FIELD_OPTIONS, allowNull: true })
  declare sodium: string | null;
  @Ref(() => License, { label: 'License', default: 2, defaultDescription: 'CC-BY-SA 4' })
  declare licenseId: number;
  @TextField(LICENSE_AUTHOR_FIELD_OPTIONS) declare licenseAuthor: string | null;
  @Ref(() => Language, { label: 'Language', readOnly: 'rest' }) declare languageId: number;
  @ChoiceField({ ...REVIEW_STATUS_FIELD_OPTIONS, readOnly: 'rest', hiddenInRest: true })
  declare status: string;
  @BooleanField(RETIRED_FIELD_OPTIONS) declare isRetired: boolean;
  @TextField(REFUSAL_REASON_FIELD_OPTIONS) declare refusalReason: string | null;
  @TextField({
    label: 'Code',
    helpText: 'Barcode, e.g. an EAN.',
    max: MAX_BARCODE_LENGTH,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare code: string | null;
  @TextField({
    label: 'Source name',
    description: 'Where the values were imported from, e.g. Open Food Facts.',
    max: 200,
    readOnly: true,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare sourceName: string | null;
  @UrlField({
    label: 'Source URL',
    description: 'A page about the food.',
    max: 200,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare sourceUrl: string | null;
  @DateTimeField({
    label: 'Last imported',
    columnAndRestKey: 'last_imported',
    description: 'When the values were last imported from the source.',
    allowNull: true,
    readOnly: true,
    hiddenInRest: true,
  })
  declare lastImportedAt: string | null;
  @TextField({
    label: 'Common name',
    description: 'The common name, if the name is a trade name.',
    max: 200,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare commonName: string | null;
  @TextField({
    label: 'Category',
    description: 'The kind of food.',
    columnAndRestKey: 'category',
    max: 100,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare foodCategory: string | null;
  @TextField({
    label: 'Brand',
    description: 'The manufacturer or seller.',
    max: 200,
    ...OPTIONAL_TEXT_FIELD_OPTIONS,
  })
  declare brand: string | null;
  @Children(() => RecipePart, 'recipeId', {
    isSavedWithParent: true,
    assumedSize: 8,
    description: 'The foods of a recipe; the nutrients are computed from them.',
  })
  declare parts: RecipePart[];
  @Children(() => IngredientUnit, 'ingredientId', {
    isSavedWithParent: true,
    assumedSize: 3,
    description: 'The household units of the ingredient.',
  })
  declare units: IngredientUnit[];
  @Children(() => DiaryEntry, 'ingredientId', {
    isConnection: true,
    description: 'Diary entries of this ingredient by the signed-in user.',
  })
  declare diaryEntries: DiaryEntry[];
}

type NutrientRow = RowFields<Ingredient, 'id' | (typeof NUTRIENTS)[number]>;

/** Loads a household unit, provided that it belongs to the ingredient. */
async function loadHouseholdMeasure(
  ingredientId: number,
  unitId: number | undefined,
  context: Context,
): Promise<HouseholdMeasure | undefined> {
  if (unitId === undefined) return undefined;
  const row = await loadRowFields(IngredientUnit, HOUSEHOLD_MEASURE_FIELDS, unitId, context);

  return row?.ingredientId === ingredientId ? row : undefined;
}

/**
 * Computes the nutritional values of an amount in a household unit, or in grams if `measure` is
 * null. If it is undefined, the unit is invalid. One error reports all invalid arguments.
 */
function computeAmountNutrition(
  amount: string,
  measure: HouseholdMeasure | null | undefined,
  row: NutrientRow,
  unitArgument: string,
) {
  const errors: ArgumentError[] = [];
  const amountError = amountErrorMessage(amount);

  if (amountError) errors.push({ path: ['amount'], message: amountError });
  if (measure === undefined) errors.push({ path: [unitArgument], message: NOT_A_CHOICE_MESSAGE });
  if (amountError || measure === undefined) throw invalidArgumentsError(errors);

  return formatNutritionalValues(
    computePortionNutrition(row, amountInGrams(pythonStrip(amount), measure)),
  );
}

@Resolver(() => Ingredient)
export default class IngredientResolver extends createCrudResolver(Ingredient, {
  addDerivedValues(values, context, id) {
    addReviewValues(values, context, id);
    values.updatedOn = defaultValues.today(context.services.timeZone);
  },
}) {
  @Query(() => Ingredient, {
    nullable: true,
    description:
      'The ingredient with this barcode, or null. If several have it, one in a language of Accept-Language is preferred, then the oldest.',
  })
  @FieldExtensions({ exclusiveTo: 'graphql' })
  async ingredientByBarcode(
    @Arg('code', () => String, {
      description:
        'The barcode as printed, e.g. `4006381333931`. Blanks and hyphens are ignored; EAN-8, UPC-A, EAN-13 and GTIN-14 match each other by their digits without leading zeros.',
    })
    code: string,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    checkBarcode(code);
    const { bind, values } = createParameterBinder();
    const where = whereClause(
      [
        columnIsOneOf('code', equivalentBarcodes(code)),
        ...visibleRowConditions(Ingredient, context),
      ],
      't',
      bind,
    );
    const orderSql = `array_position(${bind(requestedLanguageIds(context))}::int[], t."language_id"), t."id"`;
    const [row] = await context.session.query(
      `SELECT t."id" FROM "ingredient" t${where} ORDER BY ${orderSql} LIMIT 1`,
      values,
    );

    return loadReferencedRow(Ingredient, row?.id as number | undefined, context, info);
  }

  @FieldResolver(() => NutritionalValues, {
    description: 'Nutritional values of an amount of the ingredient.',
  })
  @FieldExtensions({ cost: { weight: 2 } })
  @RequiresFields(() => Ingredient, ...NUTRIENTS)
  async valuesOf(
    @Root() row: NutrientRow,
    @Arg('amount', () => DecimalScalar, {
      description:
        'In grams, or in the given unit; at most five digits, two of them after the decimal point.',
    })
    amount: string,
    @Arg('unitId', () => ID, {
      nullable: true,
      description: 'Id of a household unit of the ingredient; grams if absent.',
    })
    unitId: string | null,
    @Ctx() context: Context,
  ) {
    if (Number(amount) < 0) throw invalidArgumentError('amount', atLeastMessage(0));
    if (unitId != null) rejectNodeIdOfOtherType(IngredientUnit.name, unitId, ['unitId']);

    let measure: HouseholdMeasure | null | undefined = null;

    if (unitId != null) {
      const rowId = resolveRowId(IngredientUnit.name, unitId.trim());

      measure = await loadHouseholdMeasure(row.id, rowId, context);
    }

    return computeAmountNutrition(amount, measure, row, 'unitId');
  }

  @FieldResolver(() => FormNutritionalValues, {
    description:
      'Nutritional values of an amount of the ingredient, for the values of a form. The unit must belong to the ingredient named in the form.',
  })
  @FieldExtensions({
    exclusiveTo: 'rest',
    action: {
      name: 'get_values',
      hiddenOnPages: true,
      bodyWhenArgumentsInvalid: Object.fromEntries(
        Object.values(NUTRIENT_REST_KEYS).map((restKey) => [restKey, 0]),
      ),
      graphqlSelection: NUTRITIONAL_VALUES_SELECTION,
    },
  })
  @RequiresFields(() => Ingredient, ...NUTRIENTS)
  async formValues(
    @Root() row: NutrientRow,
    @Arg('amount', () => String, {
      nullable: true,
      description: 'In grams, or in the given unit. Required.',
    })
    amount: string | null,
    @Arg('unit', () => String, {
      nullable: true,
      description: 'Id of a household unit of the ingredient; grams if absent.',
    })
    unitId: string | null,
    @Arg('ingredient', () => String, {
      nullable: true,
      description: 'Id of the ingredient, repeated.',
    })
    ingredientId: string | null,
    @Ctx() context: Context,
  ) {
    const formIngredientId = parseFormInteger(ingredientId);

    // Like the reference service, reports an invalid ingredient id alone, without validating the
    // other arguments.
    if (Number.isNaN(formIngredientId)) {
      throw invalidArgumentError('ingredient', NOT_A_CHOICE_MESSAGE);
    }

    let measure: HouseholdMeasure | null | undefined = null;

    if (unitId) {
      const rowId = parseRowId(parseInteger(unitId));
      const requestedIngredientId = formIngredientId ?? NONEXISTENT_INGREDIENT_ID;

      measure = await loadHouseholdMeasure(requestedIngredientId, rowId, context);
    }

    const pointedAmount = withDecimalPoint(amount ?? '', context.request.languages);

    return computeAmountNutrition(pointedAmount, measure, row, 'unit');
  }
}
