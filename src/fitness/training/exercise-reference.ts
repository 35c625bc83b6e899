/** References of logs, planned sets and analyses to an exercise and to one of its translations. */
import type { ClassType } from 'type-graphql';
import type { Context } from '../../engine/context';
import type { Entity } from '../../engine/declare/fields';
import type { CrossFieldRule, FieldValues } from '../../engine/declare/registry';
import { RowField } from '../../engine/read/row-field';
import { Exercise } from '../catalogue/exercise';
import { ExerciseTranslation } from '../catalogue/exercise-translation';

/** Group keys for statistics of rows that refer to an exercise, with their relation paths. */
export const EXERCISE_GROUP_KEY_PATHS = {
  exerciseCategory: 'exercise.category',
  muscle: 'exercise.muscle',
  equipment: 'exercise.equipment',
} as const;

export const EXERCISE_REFERENCE_OPTIONS = {
  label: 'Exercise',
  column: 'exercise_base_id',
  restKey: 'exercise_base',
  hiddenInRest: true,
  exclusiveTo: 'graphql',
  setByTriggerIn: 'rest',
} as const;

export const TRANSLATION_ID_DESCRIPTION =
  'Id of the translation in which it was written. As input: by default the translation into English, or else the oldest one; on a change of the exercise, one into the same language.';

/** A log or planned set takes its translation from the exercise, unless it names one. */
const HAS_TRANSLATION_RULE: CrossFieldRule = {
  fields: ['exerciseId'],
  message: 'The exercise has no translation yet.',
  isCausedBy: ({ translationId, exerciseId }) => translationId == null && exerciseId != null,
  isEnforcedByDatabase: true,
  async violatedBy(rows: readonly FieldValues[], { session }: Context): Promise<boolean[]> {
    const translated = await session.query(
      'SELECT DISTINCT "exercise_base_id" FROM "exercise" WHERE "exercise_base_id" = ANY($1::int[])',
      [rows.map(({ exerciseId }) => Number(exerciseId))],
    );
    const exerciseIds = new Set(translated.map((row) => row.exercise_base_id as number));

    return rows.map(({ exerciseId }) => !exerciseIds.has(Number(exerciseId)));
  },
};

const SAME_EXERCISE_RULE: CrossFieldRule = {
  fields: ['exerciseId', 'translationId'],
  message: 'The translation is one of another exercise.',
  isCausedBy: ({ translationId, exerciseId }) => translationId != null && exerciseId != null,
  async violatedBy(rows: readonly FieldValues[], { session }: Context): Promise<boolean[]> {
    const translations = await session.query(
      'SELECT "id", "exercise_base_id" FROM "exercise" WHERE "id" = ANY($1::int[])',
      [rows.map(({ translationId }) => Number(translationId))],
    );
    const exerciseIds = new Map(
      translations.map((row) => [row.id as number, row.exercise_base_id as number]),
    );

    return rows.map(
      ({ translationId, exerciseId }) =>
        exerciseIds.get(Number(translationId)) !== Number(exerciseId),
    );
  },
};

export const TRANSLATION_RULES = [HAS_TRANSLATION_RULE, SAME_EXERCISE_RULE];

/**
 * REST calls a translation an exercise. It knows no exercises that several translations share.
 */
export const exerciseEntity = ({ api }: Pick<Context, 'api'>): Entity =>
  api === 'rest' ? ExerciseTranslation : Exercise;

/** The field of a log or planned set that refers to `exerciseEntity`. */
export const exerciseIdField = ({ api }: Pick<Context, 'api'>) =>
  api === 'rest' ? 'translationId' : 'exerciseId';

/** Class decorator that adds the field `exercise` to the resolver of analysis rows. */
export const ExerciseField = (
  nullDescription = 'Null until it has been accepted by review.',
): ((resolver: ClassType) => void) =>
  RowField('exercise', 'exerciseId', () => Exercise, {
    nullable: true,
    description: `The exercise. ${nullDescription}`,
  });
