import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Ref, Resource } from '../../engine/declare/resource';
import { ExerciseTranslation } from './exercise-translation';
import { Language } from './language';

@Resource({
  restName: 'exercisecomment',
  inReference: { apiRootPosition: 20 },
  dumpModelName: 'exercises.exercisecomment',
  description: 'A short hint on an exercise, in the language of the translation.',
  ordering: ['id'],
  visibilityParentFieldName: 'translationId',
  filters: ['comment', 'translationId', { field: 'languageId', syntax: 'unchecked' }],
})
export class ExerciseComment extends Model<ExerciseComment> {
  @Id() declare id: number;
  @Ref(() => ExerciseTranslation, {
    label: 'Exercise',
    column: 'exercise_id',
    restKey: 'exercise',
    readOnly: 'rest',
  })
  declare translationId: number;
  @TextField({
    label: 'Comment',
    helpText: 'A comment about how to correctly do this exercise.',
    max: 200,
    indexedForSorting: true,
  })
  declare comment: string;
  @Ref(() => Language, {
    label: 'Language of the exercise',
    relatedColumn: { table: 'exercise', referenceColumn: 'exercise_id', column: 'language_id' },
    hiddenInRest: true,
  })
  declare languageId: number;
}

export default createCrudResolver(ExerciseComment);
