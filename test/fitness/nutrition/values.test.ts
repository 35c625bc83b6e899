/**
 * Nutritional values. The formulas are those of test/system/contract/CONTRACT.md, section 9
 * "Nutrition". The numbers are recorded responses of the reference service, unless a comment says
 * otherwise.
 */
import {
  formatNutritionalValues,
  macronutrientEnergyShares,
  amountInGrams,
  macronutrientsPerBodyWeight,
  computePortionNutrition,
  sumNutritionalValues,
  type NutrientsPer100Grams,
  type HouseholdMeasure,
} from '../../../src/fitness/nutrition/values';

const asNumbers = (values: Parameters<typeof formatNutritionalValues>[0]) =>
  Object.fromEntries(
    Object.entries(formatNutritionalValues(values)).map(([name, text]) => [name, Number(text)]),
  );

const composition = (nutrients: Partial<NutrientsPer100Grams>): NutrientsPer100Grams => ({
  energy: 0,
  protein: '0.000',
  carbohydrates: '0.000',
  sugar: null,
  fat: '0.000',
  saturatedFat: null,
  fibres: null,
  sodium: null,
  ...nutrients,
});

const OATS = composition({
  energy: 372,
  protein: '13.500',
  carbohydrates: '58.700',
  sugar: '0.700',
  fat: '7.000',
  saturatedFat: '1.300',
  fibres: '10.000',
  sodium: '0.007',
});
const OIL = composition({ energy: 884, fat: '100.000', saturatedFat: '13.808' });
const BANANA = composition({ energy: 89, protein: '1.090', carbohydrates: '22.840' });
const CUP: HouseholdMeasure = { amount: '1.00', gram: 90 };
const SLICES: HouseholdMeasure = { amount: '2.50', gram: 11 };

const of = (food: NutrientsPer100Grams, amount: string, measure: HouseholdMeasure | null = null) =>
  computePortionNutrition(food, amountInGrams(amount, measure));

test.each<[string, HouseholdMeasure | null, number]>([
  ['80.00', null, 80],
  ['1.50', { amount: '1.00', gram: 244 }, 366],
  // The grams of a unit are multiplied by the amount of the unit: 2 × 2.5 slices of 11 g are 55 g.
  ['2', SLICES, 55],
  ['-5', null, -5],
])('converts an amount of %s with the unit %o to %d g', (amount, measure, grams) => {
  expect(amountInGrams(amount, measure).toNumber()).toBe(grams);
});

describe('a portion', () => {
  test('multiplies the values per 100 g by its grams and counts null as 0', () => {
    expect(asNumbers(of(OATS, '80.00'))).toEqual({
      energy: 297.6,
      protein: 10.8,
      carbohydrates: 46.96,
      sugar: 0.56,
      fat: 5.6,
      saturatedFat: 1.04,
      fibres: 8,
      sodium: 0.01,
      energyKilojoule: 1245.16,
    });
    expect(asNumbers(of(OIL, '12.25'))).toMatchObject({
      energy: 108.29,
      fat: 12.25,
      saturatedFat: 1.69,
      fibres: 0,
      sodium: 0,
    });
  });

  // Calculated by hand.
  test.each([
    ['10.125', 10.12],
    ['3.375', 3.38],
    ['0.005', 0],
    ['0.015', 0.02],
  ])('rounds %s half to even to %d', (protein, expected) => {
    expect(of(composition({ protein }), '100').protein.toNumber()).toBe(expected);
  });

  // The second case is calculated by hand: 1.875 kcal × 4.184 = 7.845, a tie in decimals. The
  // binary factor is slightly larger, so it is rounded up.
  test.each([
    [125, '100', 523],
    [3, '62.5', 7.85],
    [372, '100', 1556.45],
  ])('with %d kcal per 100 g and %s g has %d kJ', (energy, amount, kilojoules) => {
    expect(of(composition({ energy }), amount).energyKilojoule.toNumber()).toBe(kilojoules);
  });

  test('computes kilojoules from the unrounded energy', () => {
    // 73.425 kcal are 307.2102 kJ, whereas the rounded 73.42 kcal would be 307.19 kJ.
    expect(asNumbers(of(BANANA, '3.00', SLICES))).toMatchObject({
      energy: 73.42,
      energyKilojoule: 307.21,
    });
  });

  test('is formatted with two decimals and keeps the sign of values rounded to zero', () => {
    expect(formatNutritionalValues(of(OATS, '2.5', CUP))).toMatchObject({
      energy: '837.00',
      protein: '30.38',
      saturatedFat: '2.92',
      sodium: '0.02',
    });
    expect(formatNutritionalValues(of(OATS, '-5'))).toMatchObject({
      energy: '-18.60',
      protein: '-0.68',
      sodium: '-0.00',
      energyKilojoule: '-77.82',
    });
  });
});

describe('a sum', () => {
  test('adds rounded values and computes kilojoules from the sum of the kilocalories', () => {
    const third = of(composition({ energy: 1, protein: '0.335' }), '50');

    // Calculated by hand: 3 × 0.17 g (0.1675 g rounded) and 3 × 0.5 kcal.
    expect(asNumbers(sumNutritionalValues([third, third, third]))).toMatchObject({
      energy: 1.5,
      protein: 0.51,
      energyKilojoule: 6.28,
    });
  });

  test('of no portions is zero', () => {
    expect(new Set(Object.values(asNumbers(sumNutritionalValues([]))))).toEqual(new Set([0]));
  });
});

describe('nutritional values in ounces', () => {
  const inOunces = (
    food: NutrientsPer100Grams,
    amount: string,
    measure: HouseholdMeasure | null = null,
  ) => computePortionNutrition(food, amountInGrams(amount, measure), 'oz');
  const meal = sumNutritionalValues([inOunces(OATS, '1.00', CUP), inOunces(OIL, '33.33')]);

  test('convert a portion by way of kg and lb', () => {
    expect(asNumbers(inOunces(OATS, '100'))).toMatchObject({
      energy: 372,
      protein: 0.48,
      carbohydrates: 2.07,
      sugar: 0.02,
      fat: 0.25,
      saturatedFat: 0.05,
      fibres: 0.35,
      sodium: 0,
    });
  });

  test('are computed from unrounded grams and kilograms', () => {
    // 7.77 g are 0.0171 lb, and thus 0.27 oz. Rounded to 0.0078 kg they would be 0.0172 lb, and
    // thus 0.28 oz.
    expect(asNumbers(inOunces(OATS, '77.70'))).toMatchObject({ fibres: 0.27 });
    // Calculated by hand: 14.5835 g are 0.0322 lb, and thus 0.52 oz. Rounded to 14.58 g they would
    // be 0.0321 lb, and thus 0.51 oz.
    expect(asNumbers(inOunces(composition({ fat: '29.167' }), '50'))).toMatchObject({ fat: 0.52 });
  });

  test('add the rounded values of items in a total', () => {
    // Each item is 0.0032 oz, which is rounded to zero, so the total is zero too.
    const crumb = inOunces(composition({ fat: '1.000' }), '9');

    expect(asNumbers(sumNutritionalValues(Array(10).fill(crumb)))).toMatchObject({ fat: 0 });
    expect(asNumbers(meal)).toMatchObject({
      energy: 629.44,
      protein: 0.43,
      fat: 1.4,
      energyKilojoule: 2633.58,
    });
  });

  test('have energy shares by the factors of an ounce', () => {
    expect(asNumbers(macronutrientEnergyShares(meal, 'oz'))).toEqual({
      protein: 7.72,
      carbohydrates: 33.39,
      fat: 50.04,
    });
  });

  test('are divided by the stored number of the body weight', () => {
    expect(asNumbers(macronutrientsPerBodyWeight(meal, '180.00'))).toEqual({
      protein: 0,
      carbohydrates: 0.01,
      fat: 0.01,
    });
  });
});

describe('a metric total', () => {
  const total = sumNutritionalValues([of(OATS, '100')]);

  test('has energy shares of 4, 4 and 9 kcal per gram', () => {
    expect(asNumbers(macronutrientEnergyShares(total, 'g'))).toEqual({
      protein: 14.52,
      carbohydrates: 63.12,
      fat: 16.94,
    });
  });

  test('is divided by the body weight', () => {
    expect(asNumbers(macronutrientsPerBodyWeight(total, '95.00'))).toEqual({
      protein: 0.14,
      carbohydrates: 0.62,
      fat: 0.07,
    });
  });

  test('yields zeros without energy or without a body weight', () => {
    const zeros = { protein: 0, carbohydrates: 0, fat: 0 };

    expect(asNumbers(macronutrientEnergyShares(sumNutritionalValues([]), 'g'))).toEqual(zeros);
    expect(asNumbers(macronutrientsPerBodyWeight(total, undefined))).toEqual(zeros);
  });
});
