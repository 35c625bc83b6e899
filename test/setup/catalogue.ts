/** Reference data of the tests, small enough to remember: rows in dump format. */
import type { DumpRow } from '../../src/transfer/dump';

const named = (model: string, key: string, names: readonly string[]): DumpRow[] =>
  names.map((name, index) => ({ model, pk: index + 1, fields: { [key]: name } }));

const uuid = (kind: number, number: number) =>
  `0000000${kind}-0000-4000-8000-${String(number).padStart(12, '0')}`;

const DESCRIPTION = 'Stand upright, breathe in, move slowly, breathe out and start again.';

interface Exercise {
  name: string;
  category: number;
  muscles: number[];
  secondary: number[];
  equipment: number[];
  status?: string;
}

const EXERCISES: Exercise[] = [
  { name: 'Squat', category: 2, muscles: [2], secondary: [1, 3], equipment: [1] },
  { name: 'Bench press', category: 1, muscles: [1], secondary: [], equipment: [1, 2] },
  { name: 'Plank', category: 3, muscles: [3], secondary: [], equipment: [] },
  {
    name: 'Not yet accepted',
    category: 3,
    muscles: [3],
    secondary: [],
    equipment: [],
    status: '1',
  },
];

const INGREDIENTS: [string, number, string, string, string][] = [
  ['Oats', 372, '13.500', '58.700', '7.000'],
  ['Milk', 64, '3.300', '4.800', '3.500'],
  ['Apple', 52, '0.300', '13.800', '0.200'],
];

export function catalogue(): DumpRow[] {
  const names = ['Biceps brachii', 'Quadriceps femoris', 'Rectus abdominis'];

  return [
    { model: 'core.language', pk: 1, fields: { short_name: 'de', full_name: 'Deutsch' } },
    { model: 'core.language', pk: 2, fields: { short_name: 'en', full_name: 'English' } },
    {
      model: 'core.license',
      pk: 1,
      fields: { short_name: 'CC0', full_name: 'Public domain', url: null },
    },
    {
      model: 'core.license',
      pk: 2,
      fields: {
        short_name: 'CC-BY-SA 4',
        full_name: 'Attribution-ShareAlike',
        url: 'https://example.com/by',
      },
    },
    ...named('core.daysofweek', 'day_of_week', [
      'Monday',
      'Tuesday',
      'Wednesday',
      'Thursday',
      'Friday',
      'Saturday',
      'Sunday',
    ]),
    ...named('core.repetitionunit', 'name', ['Repetitions', 'Until Failure', 'Seconds']),
    ...named('core.weightunit', 'name', ['kg', 'lb', 'Body Weight', 'Plates']),
    ...named('exercises.exercisecategory', 'name', ['Arms', 'Legs', 'Abs']),
    ...named('exercises.equipment', 'name', ['Barbell', 'Bench']),
    ...names.map((name, index) => ({
      model: 'exercises.muscle',
      pk: index + 1,
      fields: { name, is_front: index !== 1 },
    })),
    { model: 'exercises.variation', pk: 1, fields: {} },
    ...EXERCISES.flatMap(
      ({ name, category, muscles, secondary, equipment, status = '2' }, index): DumpRow[] => {
        const pk = index + 1;
        const base = {
          status,
          category,
          muscles,
          muscles_secondary: secondary,
          equipment,
          license: 2,
          license_author: null,
          variations: 1,
        };
        const texts = {
          name,
          name_original: name,
          description: DESCRIPTION,
          status,
          language: 2,
          license: 2,
          license_author: 'Ann',
        };

        return [
          { model: 'exercises.exercisebase', pk, fields: { uuid: uuid(1, pk), ...base } },
          {
            model: 'exercises.exercise',
            pk,
            fields: { uuid: uuid(2, pk), creation_date: '2021-01-01', exercise_base: pk, ...texts },
          },
          {
            model: 'exercises.exercisecomment',
            pk,
            fields: { exercise: pk, comment: `Mind ${name.toLowerCase()}.` },
          },
        ];
      },
    ),
    {
      model: 'exercises.exerciseimage',
      pk: 1,
      fields: {
        uuid: uuid(3, 1),
        exercise: 1,
        image: 'exercise-images/1/squat.png',
        is_main: true,
        status: '2',
        license: 2,
      },
    },
    { model: 'nutrition.weightunit', pk: 1, fields: { language: 2, name: 'Cup' } },
    ...INGREDIENTS.flatMap(([name, energy, protein, carbohydrates, fat], index): DumpRow[] => {
      const pk = index + 1;
      const dates = { creation_date: '2021-01-01', update_date: '2021-01-02' };
      const fields = {
        name,
        energy,
        protein,
        carbohydrates,
        fat,
        ...dates,
        language: 2,
        license: 2,
        status: '2',
      };

      return [
        { model: 'nutrition.ingredient', pk, fields },
        {
          model: 'nutrition.ingredientweightunit',
          pk,
          fields: { amount: '1.00', gram: 100 + pk, ingredient: pk, unit: 1 },
        },
      ];
    }),
  ];
}
