/** Fields `exercise` and `exerciseBase` of analysis rows that refer to an exercise. */
import type { ClassType } from 'type-graphql';
import { RowField } from '../core/read/rowfield';
import { Exercise } from '../resources/exercise';
import { ExerciseBase } from '../resources/exercisebase';

/**
 * Class decorator that adds the fields `exercise` and `exerciseBase` to a resolver. Their GraphQL descriptions contain `exerciseDescription`, which says
 * which translation of the exercise is returned, and `nullDescription`, which says when both fields are null.
 */
export const WithExerciseFields =
  (exerciseDescription: string, nullDescription = 'Null until it has been accepted by review.') =>
  (resolver: ClassType): void => {
    const exerciseBaseDescription = `The base shared by the translations, which count as one exercise. ${nullDescription}`;
    RowField('exercise', 'exerciseId', () => Exercise, {
      nullable: true,
      description: `${exerciseDescription} ${nullDescription}`,
    })(resolver);
    RowField('exerciseBase', 'exerciseBaseId', () => ExerciseBase, {
      nullable: true,
      description: exerciseBaseDescription,
    })(resolver);
  };
