import { addDays } from '../dates';
import { Random } from '../random';
import type { HouseholdUnit } from '../reference';
import { ENGLISH, type RowList } from '../row';
import type { Catalogue } from './catalogue';

const DIARY_DAYS = 60;
const MOST_ITEMS = 8;

/**
 * Amount of an ingredient: grams, or a number of household units. The smallest amount of an entry
 * is 1.
 */
type Item = [ingredient: string, amount: number, unit?: HouseholdUnit];

interface Meal {
  time: string;
  snack?: true;
  planned: [Item, ...Item[]];

  /** What is eaten instead on other days. */
  alternatives: [Item[], ...Item[][]];
}

const MEALS: Meal[] = [
  {
    time: '07:30:00',
    planned: [
      ['Oats, rolled', 80],
      ['Milk, 1.5 % fat', 1, 'glass'],
      ['Blueberries', 1, 'handful'],
      ['Walnuts', 15],
    ],
    alternatives: [
      [
        ['Rye bread', 2, 'slice'],
        ['Egg, whole', 2, 'piece'],
      ],
      [
        ['Muesli without added sugar', 70],
        ['Skyr, natural', 1, 'pot'],
      ],
    ],
  },
  {
    time: '10:30:00',
    snack: true,
    planned: [
      ['Apple', 1, 'piece'],
      ['Almonds', 1, 'handful'],
    ],
    alternatives: [
      [['Banana, ripe', 1, 'piece']],
      [
        ['Carrot', 2, 'piece'],
        ['Hummus', 3, 'tbsp'],
      ],
      [['Cappuccino with milk', 1, 'cup']],
    ],
  },
  {
    time: '12:45:00',
    planned: [
      ['Chicken breast, grilled', 150],
      ['Rice, white, cooked', 220],
      ['Broccoli', 200],
      ['Oil, olive, extra virgin', 1, 'tbsp'],
    ],
    alternatives: [
      [
        ['Lentil soup', 1, 'portion'],
        ['Wholemeal roll', 1, 'piece'],
      ],
      [
        ['Pasta, cooked', 250],
        ['Bolognese sauce', 1, 'portion'],
        ['Parmesan', 2, 'tbsp'],
      ],
      [
        ['Tofu, smoked', 125],
        ['Couscous, cooked', 200],
        ['Bell pepper, red', 1, 'piece'],
      ],
    ],
  },
  {
    time: '16:30:00',
    snack: true,
    planned: [
      ['Quark, low-fat', 1, 'pot'],
      ['Raspberries', 80],
      ['Whey protein powder', 1, 'scoop'],
    ],
    alternatives: [
      [['Protein bar, chocolate', 1, 'piece']],
      [
        ['Rice cakes', 3, 'piece'],
        ['Peanut butter', 1.5, 'tbsp'],
      ],
      [['Chocolate, dark, 70 %', 3, 'square']],
    ],
  },
  {
    time: '19:30:00',
    planned: [
      ['Salmon fillet', 1, 'fillet'],
      ['Potatoes, boiled', 250],
      ['Spinach', 150],
      ['Butter', 1, 'tsp'],
    ],
    alternatives: [
      [
        ['Wholemeal bread', 2, 'slice'],
        ['Cottage cheese', 1, 'pot'],
        ['Tomato', 2, 'piece'],
      ],
      [
        ['Pizza Margherita', 1, 'piece'],
        ['Beer, lager', 1, 'bottle'],
      ],
      [
        ['Tuna in water, drained', 1, 'can'],
        ['White beans, canned', 1, 'can'],
        ['Onion', 1, 'piece'],
      ],
    ],
  },
];

const COMMENTS: [string, ...string[]] = [
  'Eaten out, amount is a guess',
  'Leftovers',
  'Double portion after training',
  'On the train',
  'Very good, cook again',
];

/**
 * Returns what was eaten on one day, with the minute of the day in UTC: at least three items and at
 * most MOST_ITEMS.
 */
function eaten(random: Random): { item: Item; minute: number }[] {
  const day: { item: Item; minute: number }[] = [];

  MEALS.forEach(({ time, snack, planned, alternatives }, index) => {
    if (snack && random.chance(0.5)) return;
    // UTC is one or two hours behind local time. Two is precise enough, because the demo user does
    // not follow the planned times exactly.
    const minute =
      (Number(time.slice(0, 2)) - 2) * 60 + Number(time.slice(3, 5)) + random.int(-20, 40);
    const items = random.chance(0.55) ? planned : random.pick(alternatives);
    // Leaves room for the remaining meals of the day.
    const room = MOST_ITEMS - day.length - (MEALS.length - 1 - index);

    for (const item of items.slice(0, Math.min(snack ? 2 : random.int(1, 3), room))) {
      day.push({ item, minute });
    }
  });

  return day;
}

/** Adds one plan with its meals, and a diary of the days up to today. */
export function addNutrition(
  list: RowList,
  catalogue: Catalogue,
  today: string,
  user: number,
): void {
  const random = new Random(60);
  const start = addDays(today, 1 - DIARY_DAYS);
  const plan = list.add('nutrition.nutritionplan', {
    user,
    language: ENGLISH,
    creation_date: start,
    description: 'Lose fat, keep muscle: plenty of protein',
    has_goal_calories: true,
  });

  const refer = ([name, , unit]: Item): { ingredient: number; weight_unit: number | null } => {
    const ingredient = catalogue.ingredient(name);

    return {
      ingredient,
      weight_unit: unit === undefined ? null : catalogue.ingredientUnit(ingredient, unit),
    };
  };

  MEALS.forEach(({ time, planned }, index) => {
    const meal = list.add('nutrition.meal', { plan, order: index + 1, time });

    planned.forEach((item, place) =>
      list.add('nutrition.mealitem', {
        meal,
        ...refer(item),
        order: place + 1,
        amount: item[1].toFixed(2),
      }),
    );
  });

  for (let day = 0; day < DIARY_DAYS; day++) {
    const date = addDays(start, day);

    for (const { item, minute } of eaten(random)) {
      const time = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00`;
      // Grams are weighed and differ from day to day, units are counted.
      const value =
        item[2] === undefined ? Math.round((item[1] * random.int(85, 120)) / 100) : item[1];

      list.add('nutrition.logitem', {
        plan,
        datetime: `${date}T${time}Z`,
        comment: random.chance(0.08) ? random.pick(COMMENTS) : null,
        ...refer(item),
        amount: value.toFixed(2),
      });
    }
  }
}
