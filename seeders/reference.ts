import { ENGLISH, type SeedRow } from './row';

/** Returns rows whose ids are the positions of their names in the list, counted from 1. */
function numbered(model: string, key: string, names: readonly string[]): SeedRow[] {
  return names.map((name, index) => ({ model, pk: index + 1, fields: { [key]: name } }));
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const LANGUAGES: [string, string][] = [
  ['de', 'Deutsch'],
  ['en', 'English'],
  ['bg', 'Български'],
  ['es', 'Español'],
  ['ru', 'Русский'],
  ['nl', 'Nederlands'],
  ['pt', 'Português'],
  ['el', 'Ελληνικά'],
  ['cs', 'Čeština'],
  ['sv', 'Svenska'],
  ['no', 'Norsk'],
  ['fr', 'Français'],
  ['it', 'Italiano'],
  ['pl', 'Polski'],
  ['uk', 'Українська'],
  ['tr', 'Türkçe'],
];

const LICENSES: [string, string, string][] = [
  [
    'CC-BY-SA 3',
    'Creative Commons Attribution-ShareAlike 3.0',
    'https://creativecommons.org/licenses/by-sa/3.0/',
  ],
  [
    'CC-BY-SA 4',
    'Creative Commons Attribution-ShareAlike 4.0',
    'https://creativecommons.org/licenses/by-sa/4.0/',
  ],
  [
    'CC0',
    'Creative Commons Zero (public domain dedication)',
    'https://creativecommons.org/publicdomain/zero/1.0/',
  ],
  ['CC-BY 4', 'Creative Commons Attribution 4.0', 'https://creativecommons.org/licenses/by/4.0/'],
  ['ODbL', 'Open Database License 1.0', 'https://opendatacommons.org/licenses/odbl/1-0/'],
];

const REPETITION_UNITS = [
  'Repetitions',
  'Until Failure',
  'Seconds',
  'Minutes',
  'Miles',
  'Kilometers',
];
const WEIGHT_UNITS = ['kg', 'lb', 'Body Weight', 'Plates', 'Kilometers Per Hour', 'Miles Per Hour'];

/** The tables below describe properties of exercises. Their ids are public and must not change. */
export const CATEGORY = {
  Arms: 8,
  Legs: 9,
  Abs: 10,
  Chest: 11,
  Back: 12,
  Shoulders: 13,
  Calves: 14,
} as const;

const MUSCLES: [string, boolean][] = [
  ['Biceps brachii', true],
  ['Anterior deltoid', true],
  ['Serratus anterior', true],
  ['Pectoralis major', true],
  ['Triceps brachii', false],
  ['Rectus abdominis', true],
  ['Gastrocnemius', false],
  ['Gluteus maximus', false],
  ['Trapezius', false],
  ['Quadriceps femoris', true],
  ['Biceps femoris', false],
  ['Latissimus dorsi', false],
  ['Brachialis', true],
  ['Obliquus externus abdominis', true],
  ['Soleus', false],
  ['Erector spinae', false],
];

const EQUIPMENT = [
  'Barbell',
  'SZ-Bar',
  'Dumbbell',
  'Gym mat',
  'Swiss Ball',
  'Pull-up bar',
  'none (bodyweight exercise)',
  'Bench',
  'Incline bench',
  'Kettlebell',
];

/** Short keys for the tables of this folder; the id of a unit is its position in this list. */
const HOUSEHOLD_UNITS = {
  cup: 'Cup',
  tbsp: 'Tablespoon',
  tsp: 'Teaspoon',
  slice: 'Slice',
  piece: 'Piece',
  glass: 'Glass',
  handful: 'Handful',
  portion: 'Portion',
  can: 'Can',
  bottle: 'Bottle',
  scoop: 'Scoop',
  clove: 'Clove',
  fillet: 'Fillet',
  square: 'Square',
  pot: 'Pot',
} as const;

export type HouseholdUnit = keyof typeof HOUSEHOLD_UNITS;

const unitKeys = Object.keys(HOUSEHOLD_UNITS) as HouseholdUnit[];

export function householdUnitId(unit: HouseholdUnit): number {
  return unitKeys.indexOf(unit) + 1;
}

/** Returns the rows that all other seeds refer to. */
export function reference(): SeedRow[] {
  return [
    ...LANGUAGES.map(([short_name, full_name], index) => ({
      model: 'core.language',
      pk: index + 1,
      fields: { short_name, full_name },
    })),
    ...numbered('core.daysofweek', 'day_of_week', DAYS),
    ...LICENSES.map(([short_name, full_name, url], index) => ({
      model: 'core.license',
      pk: index + 1,
      fields: { full_name, short_name, url },
    })),
    ...numbered('core.repetitionunit', 'name', REPETITION_UNITS),
    ...numbered('core.weightunit', 'name', WEIGHT_UNITS),
    ...MUSCLES.map(([name, is_front], index) => ({
      model: 'exercises.muscle',
      pk: index + 1,
      fields: { name, is_front },
    })),
    ...numbered('exercises.equipment', 'name', EQUIPMENT),
    ...Object.entries(CATEGORY).map(([name, pk]) => ({
      model: 'exercises.exercisecategory',
      pk,
      fields: { name },
    })),
    ...unitKeys.map((key) => ({
      model: 'nutrition.weightunit',
      pk: householdUnitId(key),
      fields: { language: ENGLISH, name: HOUSEHOLD_UNITS[key] },
    })),
  ];
}
