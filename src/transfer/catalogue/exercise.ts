/** An exercise as its source describes it. A line of an export has this form, too. */
import type { SourceLicense } from './licenses';

export interface SourceTranslation {
  uuid?: string;

  /** Code of the language. */
  language: string;
  name: string;

  /** HTML. */
  description: string;
  aliases: string[];
  comments: string[];

  /** Of an export; otherwise those of the exercise. */
  license?: SourceLicense;
  author?: string;
}

export interface SourceExercise {
  source: string;
  sourceId: string;
  uuid?: string;
  category: string;
  muscles: string[];
  secondaryMuscles: string[];
  equipment: string[];
  license: SourceLicense;
  author?: string;

  /** Exercises with the same text are variations of each other. */
  variation?: string;
  translations: SourceTranslation[];

  /** URLs, the main image first. */
  images: string[];
}
