/** Fields `exercise` and `exerciseBase` of analysis rows that refer to an exercise. */
import type { ClassType } from 'type-graphql';
import { RowField } from '../../engine/read/row-field';
import { Exercise } from '../catalogue/exercise';
import { ExerciseBase } from '../catalogue/exercise-base';

/**
 * Class decorator that adds the fields `exercise` and `exerciseBase` to a resolver. The two
 * arguments complete their GraphQL descriptions: which translation is returned, and when the fields
 * are null.
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
