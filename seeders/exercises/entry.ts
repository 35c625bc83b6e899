import type { CATEGORY } from '../reference';

/** Everyday names of the muscles, with their ids. */
export const MUSCLE = {
  biceps: 1,
  frontDelts: 2,
  serratus: 3,
  chest: 4,
  triceps: 5,
  abs: 6,
  calves: 7,
  glutes: 8,
  traps: 9,
  quads: 10,
  hamstrings: 11,
  lats: 12,
  brachialis: 13,
  obliques: 14,
  soleus: 15,
  lowerBack: 16,
} as const;

/** Equipment with its ids. Machines and cables have none: an exercise on them has an empty list. */
export const GEAR = {
  barbell: 1,
  szBar: 2,
  dumbbell: 3,
  mat: 4,
  swissBall: 5,
  pullUpBar: 6,
  bodyweight: 7,
  bench: 8,
  inclineBench: 9,
  kettlebell: 10,
} as const;

export type Muscle = keyof typeof MUSCLE;
export type Gear = keyof typeof GEAR;

export interface Wording {
  name: string;

  /** Plain text without markup and `&`, because it becomes a paragraph of HTML. */
  text: string;
  cues?: string[];
}

export interface ExerciseEntry extends Wording {
  category: keyof typeof CATEGORY;
  main: Muscle[];
  second?: Muscle[];
  gear?: Gear[];

  /** Exercises with the same group are variations of each other. */
  group?: string;
  de?: Wording;
}
