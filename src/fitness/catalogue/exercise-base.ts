import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { ChoiceField, Id, TextField, UuidField } from '../../engine/declare/fields';
import { Children, Links, Ref, Resource } from '../../engine/declare/resource';
import { Equipment } from './equipment';
import { Exercise } from './exercise';
import { ExerciseCategory } from './exercise-category';
import { ExerciseImage } from './exercise-image';
import { License } from './license';
import { Muscle } from './muscle';
import { ACCEPTED_STATUS, REVIEW_STATUS_FIELD_OPTIONS } from './review-status';
import { Variation } from './variation';

/**
 * Link table of exercise bases and muscles. Its column `is_secondary` distinguishes secondary from
 * primary muscles.
 */
const MUSCLE_LINK_TABLE = {
  table: 'exercise_base_muscle',
  ownColumn: 'exercise_base_id',
  otherColumn: 'muscle_id',
};

export const PRIMARY_MUSCLE_LINK_TABLE = {
  ...MUSCLE_LINK_TABLE,
  discriminators: { is_secondary: false },
};
export const SECONDARY_MUSCLE_LINK_TABLE = {
  ...MUSCLE_LINK_TABLE,
  discriminators: { is_secondary: true },
};
export const EQUIPMENT_LINK_TABLE = {
  table: 'exercise_base_equipment',
  ownColumn: 'exercise_base_id',
  otherColumn: 'equipment_id',
};

@Resource({
  dumpModelName: 'exercises.exercisebase',
  description: 'What all translations of an exercise share: category, muscles, equipment, images.',
  ordering: ['id'],
  labelFieldPaths: ['translations.name'],
  publishedColumnValues: { status: ACCEPTED_STATUS },
})
export class ExerciseBase extends Model<ExerciseBase> {
  @Id() declare id: number;
  @UuidField({ description: 'Identifies the exercise across servers: copies have the same UUID.' })
  declare uuid: string;
  @ChoiceField(REVIEW_STATUS_FIELD_OPTIONS) declare status: string;
  @Ref(() => ExerciseCategory, { label: 'Category' }) declare categoryId: number;
  @Links(() => Muscle, {
    relationFieldName: 'muscles',
    assumedSize: 2,
    link: PRIMARY_MUSCLE_LINK_TABLE,
  })
  declare muscleIds: number[];
  @Links(() => Muscle, {
    relationFieldName: 'musclesSecondary',
    assumedSize: 2,
    link: SECONDARY_MUSCLE_LINK_TABLE,
  })
  declare musclesSecondaryIds: number[];
  @Links(() => Equipment, {
    relationFieldName: 'equipment',
    assumedSize: 2,
    link: EQUIPMENT_LINK_TABLE,
  })
  declare equipmentIds: number[];
  @Ref(() => License, { label: 'License', default: 2 }) declare licenseId: number;
  @TextField({
    label: 'Author',
    description: 'The author to be credited under the licence.',
    max: 50,
    allowNull: true,
    allowBlank: true,
  })
  declare licenseAuthor: string | null;
  @Ref(() => Variation, {
    label: 'Variation',
    restKey: 'variations',
    helpText: 'The group of variations that the exercise belongs to.',
    allowNull: true,
  })
  declare variationId: number | null;
  @Children(() => Exercise, 'exerciseBaseId', {
    assumedSize: 3,
    description: 'The translations, pending ones included.',
  })
  declare translations: Exercise[];
  @Children(() => ExerciseImage, 'exerciseBaseId', {
    assumedSize: 3,
    description: 'Main image first.',
  })
  declare images: ExerciseImage[];
}

export default createCrudResolver(ExerciseBase);
