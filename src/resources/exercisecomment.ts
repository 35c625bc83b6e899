import { Model } from 'sequelize-typescript';
import { crud } from '../core/schema/crud';
import { Id, Text } from '../core/model/fields';
import { Ref } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { Exercise } from './exercise';
import { Language } from './language';

@Resource({
  rest: 'exercisecomment',
  position: 20,
  dump: 'exercises.exercisecomment',
  description: 'A short hint on an exercise.',
  ordering: ['id'],
  visibleWith: 'exerciseId',
  filters: ['comment', 'exerciseId', { field: 'languageId', parse: 'unchecked' }],
})
export class ExerciseComment extends Model<ExerciseComment> {
  @Id() declare id: number;
  @Ref(() => Exercise, { label: 'Exercise', readOnly: true }) declare exerciseId: number;
  @Text({ label: 'Comment', help: 'A comment about how to correctly do this exercise.', max: 200, sorted: true }) declare comment: string;
  @Ref(() => Language, {
    label: 'Language of the exercise',
    through: { table: 'exercise', via: 'exercise_id', column: 'language_id' },
    hidden: true,
  })
  declare languageId: number;
}

export default crud(ExerciseComment);
