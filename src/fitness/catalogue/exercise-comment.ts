import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Ref, Resource } from '../../engine/declare/resource';
import { Exercise } from './exercise';
import { Language } from './language';

@Resource({
  restName: 'exercisecomment',
  inReference: { apiRootPosition: 20 },
  dumpModelName: 'exercises.exercisecomment',
  description: 'A short hint on an exercise.',
  ordering: ['id'],
  visibilityParentFieldName: 'exerciseId',
  filters: ['comment', 'exerciseId', { field: 'languageId', syntax: 'unchecked' }],
})
export class ExerciseComment extends Model<ExerciseComment> {
  @Id() declare id: number;
  @Ref(() => Exercise, { label: 'Exercise', readOnly: true }) declare exerciseId: number;
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
