import fs from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { addDays } from '../../seeders/dates';
import { demo } from '../../seeders/demo';
import { exerciseImages, exercises } from '../../seeders/exercises';
import { ILLUSTRATED, imageFileName } from '../../seeders/exercises/images';
import { energyExceptions, ingredients } from '../../seeders/ingredients';
import { reference } from '../../seeders/reference';
import type { SeedRow } from '../../seeders/row';

const TODAY = '2026-09-22';
const USER = 4711;

/** New Year, a leap day, changes of daylight saving time, every weekday. */
const DAYS = [
  TODAY,
  '2027-01-01',
  '2028-02-29',
  '2026-03-29',
  '2026-10-25',
  '2026-09-23',
  '2026-09-24',
  '2026-09-25',
  '2026-09-26',
];

const EXTERNAL_USER = 'auth.user';

/**
 * The model that a field references. A key with a model takes precedence over a bare field name.
 */
const REFERENCES: Record<string, string> = {
  license: 'core.license',
  language: 'core.language',
  category: 'exercises.exercisecategory',
  variations: 'exercises.variation',
  muscles: 'exercises.muscle',
  muscles_secondary: 'exercises.muscle',
  equipment: 'exercises.equipment',
  exercise_base: 'exercises.exercisebase',
  exercise: 'exercises.exercise',
  'exercises.exerciseimage.exercise': 'exercises.exercisebase',
  user: EXTERNAL_USER,
  training: 'manager.workout',
  workout: 'manager.workout',
  day: 'core.daysofweek',
  exerciseday: 'manager.day',
  set: 'manager.set',
  repetition_unit: 'core.repetitionunit',
  'manager.setting.weight_unit': 'core.weightunit',
  'manager.workoutlog.weight_unit': 'core.weightunit',
  weight_unit: 'nutrition.ingredientweightunit',
  schedule: 'manager.schedule',
  ingredient: 'nutrition.ingredient',
  unit: 'nutrition.weightunit',
  plan: 'nutrition.nutritionplan',
  meal: 'nutrition.meal',
};

const catalogue = [...reference(), ...exercises(TODAY), ...ingredients()];
const owned = demo(TODAY, USER);

function of(rows: SeedRow[], model: string): SeedRow[] {
  return rows.filter((row) => row.model === model);
}

function values<T = unknown>(rows: SeedRow[], field: string): T[] {
  return rows.map(({ fields }) => fields[field] as T);
}

function countBy(keys: string[]): Map<string, number> {
  const counts = new Map<string, number>();

  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);

  return counts;
}

function number(row: SeedRow, field: string): number {
  return Number(row.fields[field]);
}

/** Returns references to rows that do not precede the referencing row. */
function unresolvedReferences(rows: SeedRow[]): string[] {
  const seen = new Set([`${EXTERNAL_USER} ${USER}`]);
  const missing: string[] = [];

  for (const { model, pk, fields } of rows) {
    for (const [field, value] of Object.entries(fields)) {
      // The category of an ingredient is a text.
      const target =
        model === 'nutrition.ingredient' && field === 'category'
          ? undefined
          : (REFERENCES[`${model}.${field}`] ?? REFERENCES[field]);

      if (target === undefined || value === null) continue;

      for (const id of Array.isArray(value) ? value : [value]) {
        if (!seen.has(`${target} ${id}`)) missing.push(`${model} ${pk}: ${field} ${id}`);
      }
    }

    seen.add(`${model} ${pk}`);
  }

  return missing;
}

describe('all seeds', () => {
  test('are the same on every call', () => {
    expect(reference()).toEqual(reference());
    expect(exercises(TODAY)).toEqual(exercises(TODAY));
    expect(ingredients()).toEqual(ingredients());
    expect(demo(TODAY, USER)).toEqual(owned);
  });

  test('have unique ids per model', () => {
    for (const rows of [catalogue, owned]) {
      const keys = rows.map(({ model, pk }) => `${model} ${pk}`);

      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test('refer only to preceding rows', () => {
    expect(unresolvedReferences([...catalogue, ...owned])).toEqual([]);
  });

  test('are unchanged by JSON serialization', () => {
    const rows = [...catalogue, ...owned];

    expect(JSON.parse(JSON.stringify(rows))).toEqual(rows);
  });
});

describe('images of exercises', () => {
  const images = of(catalogue, 'exercises.exerciseimage');

  test('are small opaque PNG files, licensed, at the path of their exercise', async () => {
    expect(images).toHaveLength(12);

    for (const { fields } of images) {
      expect(fields).toMatchObject({
        is_main: true,
        status: '2',
        license: 2,
        license_author: 'Fitgraph',
      });
      expect(fields.image).toBe(`exercise-images/${String(fields.exercise)}/muscles.png`);
    }

    const files = exerciseImages();

    expect(files.map(([file]) => file)).toEqual(values(images, 'image'));

    for (const [, content] of files) {
      expect(await sharp(content).metadata()).toMatchObject({
        format: 'png',
        width: 600,
        height: 600,
        hasAlpha: false,
      });
    }

    expect(files.reduce((sum, [, { length }]) => sum + length, 0)).toBeLessThan(120_000);
  });

  test('have a file each, and no file is left over', () => {
    const files = fs.readdirSync(path.join(__dirname, '../../seeders/exercises/images'));

    expect(files.sort()).toEqual(ILLUSTRATED.map(imageFileName).sort());
  });
});

test('the README states the numbers of exercises', () => {
  const readme = fs.readFileSync(path.join(__dirname, '../../README.md'), 'utf8');
  const [, english, german, total] =
    /has (\d+) exercises in English, (\d+) of them also in German: [^]*?`totalCount` is (\d+)\./.exec(
      readme,
    )!;
  const rows = of(catalogue, 'exercises.exercise');
  const count = (language: number) =>
    rows.filter(({ fields }) => fields.language === language).length;

  expect([english, german, total].map(Number)).toEqual([count(2), count(1), rows.length]);
  expect(of(catalogue, 'exercises.exercisebase')).toHaveLength(Number(english));
});

describe('reference data', () => {
  const rows = reference();

  test('has the ids of the reference service', () => {
    const languages = of(rows, 'core.language').map(
      ({ pk, fields }) => `${pk} ${fields.short_name}`,
    );

    expect(languages.join()).toBe(
      '1 de,2 en,3 bg,4 es,5 ru,6 nl,7 pt,8 el,9 cs,10 sv,11 no,12 fr,13 it,14 pl,15 uk,16 tr',
    );
    expect(values(of(rows, 'core.daysofweek'), 'day_of_week')[0]).toBe('Monday');
    expect(of(rows, 'core.license').find(({ pk }) => pk === 2)?.fields.short_name).toBe(
      'CC-BY-SA 4',
    );
    expect(of(rows, 'exercises.exercisecategory').map(({ pk }) => pk)).toEqual([
      8, 9, 10, 11, 12, 13, 14,
    ]);
  });

  test.each([
    ['core.daysofweek', 7],
    ['core.license', 5],
    ['core.repetitionunit', 6],
    ['core.weightunit', 6],
    ['exercises.muscle', 16],
    ['exercises.equipment', 10],
  ])('has all rows of %s', (model, count) => {
    expect(of(rows, model)).toHaveLength(count);
  });

  test('fits the lengths of the columns', () => {
    for (const { fields } of of(rows, 'core.license')) {
      expect(String(fields.full_name).length).toBeLessThanOrEqual(60);
      expect(String(fields.short_name).length).toBeLessThanOrEqual(15);
    }

    for (const name of values<string>(of(rows, 'core.language'), 'full_name')) {
      expect(name.length).toBeLessThanOrEqual(30);
    }
  });
});

describe('exercises', () => {
  const rows = exercises(TODAY);
  const translations = of(rows, 'exercises.exercise');

  test('have the promised minimum counts', () => {
    const english = translations.filter(({ fields }) => fields.language === 2);
    const german = translations.filter(({ fields }) => fields.language === 1);

    expect(english.length).toBeGreaterThanOrEqual(80);
    expect(english).toHaveLength(of(rows, 'exercises.exercisebase').length);
    expect(german.length).toBeGreaterThanOrEqual(25);
    const englishIds = new Set(english.map(({ pk }) => pk));
    const commented = new Set(
      values<number>(of(rows, 'exercises.exercisecomment'), 'exercise').filter((id) =>
        englishIds.has(id),
      ),
    );

    expect(commented.size).toBeGreaterThanOrEqual(40);
  });

  test('have unique texts within the length limits', () => {
    for (const { fields } of translations) {
      expect(fields.description).toMatch(/^<p>[^<>&]{40,1500}<\/p>$/);
      expect(String(fields.name).length).toBeLessThanOrEqual(200);
    }

    for (const field of ['description', 'name', 'uuid']) {
      expect(new Set(values(translations, field)).size).toBe(translations.length);
    }

    for (const comment of values<string>(of(rows, 'exercises.exercisecomment'), 'comment')) {
      expect(comment.trim()).not.toBe('');
      expect(comment.length).toBeLessThanOrEqual(200);
    }
  });

  test('have version 5 UUIDs that are unique across both tables', () => {
    const uuids = values<string>([...of(rows, 'exercises.exercisebase'), ...translations], 'uuid');

    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }

    expect(new Set(uuids).size).toBe(uuids.length);
  });

  test('name no muscle twice and have at least two exercises per variation', () => {
    for (const { fields } of of(rows, 'exercises.exercisebase')) {
      const muscles = [...(fields.muscles as number[]), ...(fields.muscles_secondary as number[])];

      expect(fields.muscles).not.toHaveLength(0);
      expect(new Set(muscles).size).toBe(muscles.length);
    }

    const sizes = countBy(
      values(of(rows, 'exercises.exercisebase'), 'variations')
        .filter((id) => id !== null)
        .map(String),
    );

    expect(sizes.size).toBe(of(rows, 'exercises.variation').length);
    for (const size of sizes.values()) expect(size).toBeGreaterThanOrEqual(2);
  });

  test('have no creation date after the day of loading', () => {
    expect(new Set(values(translations, 'creation_date'))).toEqual(new Set(['2026-01-01']));
    expect(
      new Set(values(of(exercises('2025-05-05'), 'exercises.exercise'), 'creation_date')),
    ).toEqual(new Set(['2025-05-05']));
  });
});

describe('ingredients', () => {
  const rows = ingredients();
  const foods = of(rows, 'nutrition.ingredient');
  const units = of(rows, 'nutrition.ingredientweightunit');

  test('have the promised minimum counts', () => {
    expect(foods.length).toBeGreaterThanOrEqual(200);
    expect(new Set(values(foods, 'name')).size).toBe(foods.length);
    expect(new Set(values(units, 'ingredient')).size).toBeGreaterThanOrEqual(100);
  });

  test.each(foods.map((row) => [String(row.fields.name), row] as const))(
    'include %s with plausible values',
    (name, row) => {
      expect(name.length).toBeGreaterThanOrEqual(3);
      expect(name.length).toBeLessThanOrEqual(200);

      for (const field of [
        'protein',
        'carbohydrates',
        'carbohydrates_sugar',
        'fat',
        'fat_saturated',
        'fibres',
        'sodium',
      ]) {
        expect(row.fields[field]).toMatch(/^\d{1,3}\.\d{3}$/);
      }

      const [protein, carbohydrates, fat, fibres] = [
        'protein',
        'carbohydrates',
        'fat',
        'fibres',
      ].map((field) => number(row, field)) as [number, number, number, number];

      expect(number(row, 'carbohydrates_sugar')).toBeLessThanOrEqual(carbohydrates);
      expect(number(row, 'fat_saturated')).toBeLessThanOrEqual(fat);
      expect(protein + carbohydrates + fat + fibres).toBeLessThanOrEqual(100);
      expect(number(row, 'sodium')).toBeLessThan(40);

      const energy = row.fields.energy as number;

      expect(Number.isInteger(energy)).toBe(true);
      const sum = 4 * protein + 4 * carbohydrates + 9 * fat;
      const source = energyExceptions.get(name);

      if (source === 'alcohol') expect(energy).toBeGreaterThan(sum);
      else {
        const expected = source === 'fibre' ? sum + 2 * fibres : sum;

        expect(Math.abs(energy - expected)).toBeLessThanOrEqual(0.2 * expected);
      }
    },
  );

  test('declare only real exceptions from the energy formula', () => {
    for (const row of foods) {
      if (!energyExceptions.has(String(row.fields.name))) continue;
      const sum =
        4 * number(row, 'protein') + 4 * number(row, 'carbohydrates') + 9 * number(row, 'fat');

      expect(Math.abs(number(row, 'energy') - sum)).toBeGreaterThan(0.19 * sum);
    }
  });

  test('have units of whole grams, each at most once per ingredient', () => {
    for (const { fields } of units) {
      expect(Number.isInteger(fields.gram) && Number(fields.gram) > 0).toBe(true);
      expect(fields.amount).toBe('1.00');
    }

    const pairs = units.map(({ fields }) => `${fields.ingredient} ${fields.unit}`);

    expect(new Set(pairs).size).toBe(pairs.length);
  });
});

describe.each(DAYS)('demo data loaded on %s', (today) => {
  const rows = demo(today, USER);

  test('belongs to the user only and contains no accounts', () => {
    expect(rows.filter(({ model }) => /^(auth|authtoken|core)\./.test(model))).toEqual([]);
    expect(
      new Set(
        values(
          rows.filter(({ fields }) => 'user' in fields),
          'user',
        ),
      ),
    ).toEqual(new Set([USER]));
    expect(unresolvedReferences([...catalogue, ...rows])).toEqual([]);
  });

  test('has a year of weights, at most one per day', () => {
    const entries = of(rows, 'weight.weightentry');
    const dates = values<string>(entries, 'date');

    expect(entries.length).toBeGreaterThanOrEqual(330);
    expect(entries.length).toBeLessThan(365);
    expect(new Set(dates).size).toBe(dates.length);
    expect(dates[0]).toBe(addDays(today, -364));
    expect(dates.at(-1)).toBe(today);

    for (const weight of values<string>(entries, 'weight')) {
      expect(weight).toMatch(/^\d{2,3}\.\d{2}$/);
      expect(Number(weight)).toBeGreaterThan(70);
      expect(Number(weight)).toBeLessThan(95);
    }
  });

  test('has two workouts with values within the limits', () => {
    expect(of(rows, 'manager.workout')).toHaveLength(2);

    for (const day of values<number[]>(of(rows, 'manager.day'), 'day')) {
      expect(day.length).toBeGreaterThan(0);
    }

    for (const sets of values<number>(of(rows, 'manager.set'), 'sets')) {
      expect(sets >= 1 && sets <= 10).toBe(true);
    }

    for (const { fields } of of(rows, 'manager.setting')) {
      expect(Number(fields.reps) > 0 && Number(fields.reps) <= 600).toBe(true);
      if (fields.weight !== null) expect(fields.weight).toMatch(/^\d{1,3}\.\d{2}$/);
      expect([null, '0', '0.5', '1', '1.5', '2', '2.5', '3', '3.5', '4']).toContain(fields.rir);
      expect(String(fields.comment).length).toBeLessThanOrEqual(100);
    }

    const steps = of(rows, 'manager.schedulestep');

    expect(of(rows, 'manager.schedule')).toHaveLength(1);
    expect(values(steps, 'workout')).toEqual([1, 2]);

    for (const duration of values<number>(steps, 'duration')) {
      expect(duration >= 1 && duration <= 25).toBe(true);
    }
  });

  test('has 16 weeks of logs with a session on each training day', () => {
    const sessions = of(rows, 'manager.workoutsession');
    const logs = of(rows, 'manager.workoutlog');
    const dates = values<string>(sessions, 'date');
    const start = addDays(today, -111);

    expect(new Set(dates).size).toBe(dates.length);
    expect(new Set(values(logs, 'date'))).toEqual(new Set(dates));
    expect(dates.every((date) => date >= start && date <= today)).toBe(true);
    const weeks = countBy(
      dates.map((date) =>
        String(Math.floor((Date.parse(date) - Date.parse(start)) / (7 * 86_400_000))),
      ),
    );

    expect(weeks.size).toBe(16);
    for (const count of weeks.values()) expect(count).toBeGreaterThanOrEqual(3);

    for (const { fields } of sessions) {
      expect(['1', '2', '3']).toContain(fields.impression);

      if (fields.time_start === null) expect(fields.time_end).toBeNull();
      else {
        expect(`${fields.time_start} ${fields.time_end}`).toMatch(
          /^([01]\d|2[0-3]):[0-5]\d:00 ([01]\d|2[0-3]):[0-5]\d:00$/,
        );
        expect(String(fields.time_end) > String(fields.time_start)).toBe(true);
      }
    }

    for (const { fields } of logs) {
      expect(Number.isInteger(fields.reps) && Number(fields.reps) > 0).toBe(true);
      expect(fields.weight).toMatch(/^\d{1,3}\.\d{2}$/);
      const session = sessions.find((row) => row.fields.date === fields.date);

      expect(fields.workout).toBe(session?.fields.workout);
    }
  });

  test('has increasing weights in the logs of most exercises', () => {
    const byExercise = new Map<string, number[]>();

    for (const { fields } of of(rows, 'manager.workoutlog')) {
      const key = `${fields.workout} ${fields.exercise}`;

      byExercise.set(key, [...(byExercise.get(key) ?? []), Number(fields.weight)]);
    }

    const heavier = [...byExercise.values()].filter(
      (weights) => Math.max(...weights.slice(-4)) > Math.max(...weights.slice(0, 4)),
    );

    expect(heavier.length).toBeGreaterThan(byExercise.size / 2);
  });

  test('has a nutrition plan and a diary of 60 days', () => {
    expect(of(rows, 'nutrition.nutritionplan')).toHaveLength(1);
    expect(
      String(of(rows, 'nutrition.nutritionplan')[0]?.fields.description).length,
    ).toBeLessThanOrEqual(80);
    expect(of(rows, 'nutrition.meal')).toHaveLength(5);
    const diary = of(rows, 'nutrition.logitem');
    const days = countBy(
      values<string>(diary, 'datetime').map((datetime) => datetime.slice(0, 10)),
    );

    expect([...days.keys()]).toEqual(
      Array.from({ length: 60 }, (_, index) => addDays(today, index - 59)),
    );
    for (const count of days.values()) expect(count >= 3 && count <= 8).toBe(true);
    expect(diary.some(({ fields }) => fields.comment !== null)).toBe(true);

    for (const { fields } of [...diary, ...of(rows, 'nutrition.mealitem')]) {
      expect(fields.amount).toMatch(/^\d{1,4}\.\d{2}$/);
      expect(Number(fields.amount) >= 1 && Number(fields.amount) <= 1000).toBe(true);
      const unit = of(catalogue, 'nutrition.ingredientweightunit').find(
        ({ pk }) => pk === fields.weight_unit,
      );

      if (fields.weight_unit !== null) expect(unit?.fields.ingredient).toBe(fields.ingredient);
    }

    // All entries of a day are on the same day in Central Europe, too.
    for (const datetime of values<string>(diary, 'datetime')) {
      expect(datetime).toMatch(/T(0\d|1\d|20):[0-5]\d:00Z$/);
    }
  });
});
