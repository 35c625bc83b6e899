/** The active nutrition plan, and the meal of a diary entry. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let bob: Person;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
});
beforeEach(() => fitgraph.sql('DELETE FROM "nutrition_plan"'));

const create = async (input: string, person = ann) =>
  (
    await person.ask(
      `mutation { createNutritionPlan(input: { ${input} }) { nutritionPlan { id isActive meals { id } } } }`,
    )
  ).createNutritionPlan.nutritionPlan as { id: string; isActive: boolean; meals: { id: string }[] };
const activePlans = async (person = ann) =>
  (
    await person.ask('{ nutritionPlans(where: { isActive: { eq: true } }) { nodes { name } } }')
  ).nutritionPlans.nodes.map(({ name }: { name: string }) => name);

describe('the active plan', () => {
  test('is the newest plan of either API until another one is activated', async () => {
    const { id } = await create('name: "first"');

    await ann.post('/nutritionplan/', { description: 'second' });
    await create('name: "of bob"', bob);
    expect(await activePlans()).toEqual(['second']);
    await create('name: "third", isActive: false');
    expect(await activePlans()).toEqual(['second']);
    const { updateNutritionPlan } = await ann.ask(
      `mutation { updateNutritionPlan(id: ${id}, input: { isActive: true }) { nutritionPlan { isActive } errors { path } } }`,
    );

    expect(updateNutritionPlan).toEqual({ nutritionPlan: { isActive: true }, errors: [] });
    expect([await activePlans(), await activePlans(bob)]).toEqual([['first'], ['of bob']]);
  });

  test('may be absent', async () => {
    const { id } = await create('name: "only"');

    await ann.ask(
      `mutation { updateNutritionPlan(id: ${id}, input: { isActive: false }) { errors { path } } }`,
    );
    expect(await activePlans()).toEqual([]);
  });

  test('cannot be read or set over REST', async () => {
    const { body } = await ann.post('/nutritionplan/', { description: 'rest', is_active: false });

    expect(Object.keys(body)).not.toContain('is_active');
    expect(await activePlans()).toEqual(['rest']);
    await create('name: "other"');
    await ann.put(`/nutritionplan/${body.id}/`, { description: 'rest' });
    expect(await activePlans()).toEqual(['other']);
  });
});

describe('the meal of a diary entry', () => {
  const MEALS = 'meals: [{ position: 1, time: "08:00" }, { position: 2, time: "19:00" }]';
  const log = async (plan: string, meal: string | null, person = ann) =>
    (
      await person.ask(
        `mutation ($meal: ID) { createDiaryEntry(input: { planId: ${plan}, ingredientId: 1, amount: "100", eatenAt: "2021-03-01T09:00:00Z", mealId: $meal })
          { diaryEntry { id meal { id } } errors { path code message } } }`,
        { meal },
      )
    ).createDiaryEntry;

  test('must belong to the plan of the entry, or be null', async () => {
    const { id, meals } = await create(MEALS);
    const other = await create(MEALS);
    const foreign = await create(MEALS, bob);
    const made = await log(id, meals[1]!.id);

    expect(made).toMatchObject({ diaryEntry: { meal: meals[1] }, errors: [] });
    expect(await log(id, null)).toMatchObject({ diaryEntry: { meal: null }, errors: [] });
    const wrong = {
      path: ['input', 'mealId'],
      code: 'INVALID',
      message: 'The meal is not one of the plan.',
    };

    expect(await log(id, other.meals[0]!.id)).toEqual({ diaryEntry: null, errors: [wrong] });
    expect((await log(id, foreign.meals[0]!.id)).errors).toMatchObject([
      { path: ['input', 'mealId'] },
    ]);
    const { updateDiaryEntry } = await ann.ask(
      `mutation { updateDiaryEntry(id: ${made.diaryEntry.id}, input: { planId: ${other.id} }) { errors { path code message } } }`,
    );

    expect(updateDiaryEntry.errors).toEqual([{ ...wrong, path: ['input', 'planId'] }]);
    const { createNutritionPlan } = await ann.ask(
      `mutation { createNutritionPlan(input: { name: "new", diaryEntries: [{ ingredientId: 1, amount: "1", mealId: ${meals[0]!.id} }] }) { errors { path code message } } }`,
    );

    expect(createNutritionPlan.errors).toEqual([
      { ...wrong, path: ['input', 'diaryEntries', '0', 'mealId'] },
    ]);
  });

  test('takes precedence over the time of day in nutritionIntake', async () => {
    const { id, meals } = await create(MEALS);

    await log(id, meals[1]!.id);
    await log(id, null);
    const { nutritionIntake } = await ann.ask(
      '{ nutritionIntake(perMeal: true, from: "2021-03-01", until: "2021-03-01") { mealId total { energy } } }',
    );

    expect(nutritionIntake.map(({ mealId }: { mealId: string }) => mealId)).toEqual(
      meals.map((meal) => meal.id),
    );
    expect(nutritionIntake[0].total).toEqual(nutritionIntake[1].total);
  });

  test.each([
    ['deleted', (meal: string) => `deleteMeal(id: ${meal}) { errors { path } }`],
    [
      'moved to another plan',
      (meal: string, other: string) =>
        `updateMeal(id: ${meal}, input: { planId: ${other} }) { errors { path } }`,
    ],
  ])('becomes null when that meal is %s, and the entry remains', async (_what, write) => {
    const other = await create('name: "other"');
    const { id, meals } = await create(MEALS);
    const { diaryEntry } = await log(id, meals[0]!.id);

    await ann.ask(`mutation { done: ${write(meals[0]!.id, other.id)} }`);
    expect(
      (await ann.ask(`{ diaryEntry(id: ${diaryEntry.id}) { planId mealId } }`)).diaryEntry,
    ).toEqual({ planId: id, mealId: null });
  });

  test('becomes null when a REST client moves the entry to another plan', async () => {
    const other = await create('name: "other"');
    const { id, meals } = await create(MEALS);
    const { diaryEntry } = await log(id, meals[0]!.id);
    const mealOfEntry = async () =>
      (await ann.ask(`{ diaryEntry(id: ${diaryEntry.id}) { planId mealId } }`)).diaryEntry;

    await ann.patch(`/nutritiondiary/${diaryEntry.id}/`, { plan: Number(id), amount: '90.00' });
    expect(await mealOfEntry()).toEqual({ planId: id, mealId: meals[0]!.id });
    const { status, body } = await ann.patch(`/nutritiondiary/${diaryEntry.id}/`, {
      plan: Number(other.id),
    });

    expect([status, body.plan]).toEqual([200, Number(other.id)]);
    expect(await mealOfEntry()).toEqual({ planId: other.id, mealId: null });
  });

  test('does not prevent the deletion of the plan and its entries', async () => {
    const { id, meals } = await create(MEALS);

    await log(id, meals[0]!.id);
    expect(
      (
        await ann.ask(
          `mutation { deleteNutritionPlan(id: ${id}, deleteHistory: true) { deletedIds } }`,
        )
      ).deleteNutritionPlan.deletedIds,
    ).toEqual([id]);
    expect(await fitgraph.sql('SELECT 1 FROM "diary_entry"')).toEqual([]);
  });

  test.each([
    [
      'created',
      (plan: string, meal: string) =>
        `createDiaryEntry(input: { planId: ${plan}, ingredientId: 1, amount: "1", mealId: ${meal} })`,
    ],
    [
      'updated',
      (_plan: string, _meal: string, entry: string) =>
        `updateDiaryEntry(id: ${entry}, input: { amount: "120" })`,
    ],
  ])(
    'does not prevent the deletion of the plan in the transaction in which the entry is %s',
    async (_what, write) => {
      const { id, meals } = await create(MEALS);
      const { diaryEntry } = await log(id, meals[0]!.id);
      const { written, deleted } = await ann.ask(
        `mutation @atomic { written: ${write(id, meals[0]!.id, diaryEntry.id)} { errors { message } } deleted: deleteNutritionPlan(id: ${id}, deleteHistory: true) { deletedIds errors { message } } }`,
      );

      expect([written, deleted]).toEqual([{ errors: [] }, { deletedIds: [id], errors: [] }]);
      expect(await fitgraph.sql('SELECT 1 FROM "diary_entry"')).toEqual([]);
    },
  );

  test('belongs to the plan of the entry under concurrent writes', async () => {
    const plans = [await create(MEALS), await create(MEALS)];
    const meal = plans[0]!.meals[0]!.id;

    for (let round = 0; round < 8; round += 1) {
      const [from, to] = round % 2 ? [plans[1]!, plans[0]!] : [plans[0]!, plans[1]!];

      await Promise.all([
        ann.query(
          `mutation { updateMeal(id: ${meal}, input: { planId: ${to.id} }) { errors { path } } }`,
        ),
        ...Array.from({ length: 6 }, () => log(from.id, meal)),
        ...Array.from({ length: 2 }, () => log(to.id, meal)),
      ]);
      const mismatchedEntries =
        'SELECT e."id" FROM "diary_entry" e JOIN "meal" m ON m."id" = e."meal_id" WHERE m."plan_id" <> e."plan_id"';

      expect(await fitgraph.sql(mismatchedEntries)).toEqual([]);
    }
  });
});
