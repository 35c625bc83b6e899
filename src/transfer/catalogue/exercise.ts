/** An exercise as its source describes it. A line of an export has this form, too. */
export interface SourceLicense {
  shortName: string;
  fullName: string;
  url: string | null;
}

export interface SourceTranslation {
  uuid?: string;

  /** Code of the language. */
  language: string;
  name: string;

  /** HTML. */
  description: string;
  aliases: string[];
  comments: string[];
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
