/**
 * Images of exercises: the trained muscles on the front and the back of a figure, drawn by
 * scripts/drawings.mjs. They are works of this project under the licence of its catalogue.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** English names of the exercises with an image. */
export const ILLUSTRATED = [
  'Bench Press',
  'Deadlift',
  'Bent-Over Barbell Row',
  'Pull-Up',
  'Back Squat',
  'Leg Press',
  'Hip Thrust',
  'Overhead Press',
  'Dumbbell Curl',
  'Triceps Pushdown',
  'Crunch',
  'Standing Calf Raise',
];

export const imageFileName = (exercise: string): string =>
  `${exercise.toLowerCase().replaceAll(' ', '-')}.png`;

/** Returns the PNG file, which the build copies next to this module. */
export const imageContent = (exercise: string): Buffer =>
  readFileSync(join(__dirname, 'images', imageFileName(exercise)));

/** Returns the path in the file store of the image of an exercise, by the id of its base. */
export const imagePath = (base: number): string => `exercise-images/${base}/muscles.png`;
