/** Search for example questions by the words that people use. */
import { EXAMPLE_QUESTIONS } from '../../../../src/web/playground/questions/all';
import { matchesSearch } from '../../../../src/web/playground/questions/question';

const slugsFor = (text: string) =>
  EXAMPLE_QUESTIONS.filter((question) => matchesSearch(question, text)).map(({ slug }) => slug);

const WORDS =
  `bench squat deadlift 1rm e1rm pr pb max record rpe rir failure effort volume tonnage deload
  hypertrophy cardio streak habit consistency frequency reps sets legs chest back muscle macros carbs
  protein fat fibre fiber calories kcal deficit cut bulk diet breakfast scale sleep fatigue adherence
  dumbbell wilks dots oats chicken`.split(/\s+/);

test.each(WORDS)('finds questions by "%s", in any case', (word) => {
  expect(slugsFor(word).length).toBeGreaterThan(0);
  expect(slugsFor(word.toUpperCase())).toEqual(slugsFor(word));
});

test('finds questions that contain all words, in any order', () => {
  expect(slugsFor('week volume')).toContain('sets-per-muscle-by-week');
  expect(slugsFor('bench zumba')).toEqual([]);
});

test('finds all questions without a word, and words only by their beginning', () => {
  expect(slugsFor('  ')).toHaveLength(EXAMPLE_QUESTIONS.length);
  expect(slugsFor('streak')[0]).toBe('streak-of-weeks');
  expect(slugsFor('prot')).toEqual(expect.arrayContaining(slugsFor('protein')));
  expect(slugsFor('uscle')).toEqual([]);
});
