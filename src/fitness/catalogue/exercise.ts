import { randomUUID } from 'node:crypto';
import { Model } from 'sequelize-typescript';
import { Arg, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import { FieldExtensions } from '../../engine/declare/field-extensions';
import {
  BooleanField,
  ChoiceField,
  Id,
  TextField,
  UuidField,
  type RowFields,
} from '../../engine/declare/fields';
import type { FieldValues } from '../../engine/declare/registry';
import { Children, Links, Ref, Resource } from '../../engine/declare/resource';
import { loadChildFields } from '../../engine/read/loaders';
import { RequiresFields } from '../../engine/read/query-plan';
import { Equipment } from './equipment';
import { ExerciseTranslation } from './exercise-translation';
import { ExerciseCategory } from './exercise-category';
import { ExerciseImage } from './exercise-image';
import { Language } from './language';
import { License, LICENSE_AUTHOR_FIELD_OPTIONS } from './license';
import { Muscle } from './muscle';
import {
  ACCEPTED_STATUS,
  addReviewValues,
  PENDING_STATUS,
  PUBLISHED_COLUMN_VALUES,
  REFUSAL_REASON_FIELD_OPTIONS,
  RETIRED_FIELD_OPTIONS,
  REVIEW_STATUS_FIELD_OPTIONS,
} from './review-status';
import { searchPreferences } from './search-preferences';
import { Variation } from './variation';
import { WorkoutLog } from '../training/workout-log';

/**
 * Link table of exercises and muscles. Its column `is_secondary` distinguishes secondary from
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

function hasMuscleTwice({ muscleIds, musclesSecondaryIds }: FieldValues): boolean {
  const primaryIds = new Set((muscleIds as unknown[]).map(Number));

  return (musclesSecondaryIds as unknown[]).some((id) => primaryIds.has(Number(id)));
}

@Resource({
  table: 'exercise_base',
  dumpModelName: 'exercises.exercisebase',
  hasBulkMutations: true,
  description:
    'An exercise: its category, muscles, equipment and images, and its names and descriptions in `translations`.',
  ordering: ['id'],
  groupKeyPaths: {},
  crossFieldRules: [
    {
      fields: ['muscleIds', 'musclesSecondaryIds'],
      message: 'A muscle is either primary or secondary.',
      violatedBy: (rows) => rows.map(hasMuscleTwice),
    },
  ],
  publishedColumnValues: PUBLISHED_COLUMN_VALUES,
  pendingColumnValues: { status: PENDING_STATUS },
  searchPreferences: searchPreferences('exercise_base_id', () => [WorkoutLog], {
    hasLanguage: false,
  }),
})
export class Exercise extends Model<Exercise> {
  @Id() declare id: number;
  @UuidField({
    description: 'Identifies the exercise across servers: copies have the same UUID.',
    readOnly: true,
    default: () => randomUUID(),
  })
  declare uuid: string;
  @TextField({
    label: 'Name',
    max: 200,
    readOnly: true,
    setByDatabase: true,
    allowBlank: true,
    indexedForSearch: true,
    searchedWithColumns: ['names'],
    indexedForSorting: true,
  })
  declare name: string;
  @ChoiceField(REVIEW_STATUS_FIELD_OPTIONS) declare status: string;
  @BooleanField(RETIRED_FIELD_OPTIONS) declare isRetired: boolean;
  @TextField(REFUSAL_REASON_FIELD_OPTIONS) declare refusalReason: string | null;
  @Ref(() => ExerciseCategory, { label: 'Category' }) declare categoryId: number;
  @Links(() => Muscle, {
    relationFieldName: 'muscles',
    allowBlank: true,
    assumedSize: 2,
    link: PRIMARY_MUSCLE_LINK_TABLE,
  })
  declare muscleIds: number[];
  @Links(() => Muscle, {
    relationFieldName: 'musclesSecondary',
    allowBlank: true,
    assumedSize: 2,
    link: SECONDARY_MUSCLE_LINK_TABLE,
  })
  declare musclesSecondaryIds: number[];
  @Links(() => Equipment, {
    relationFieldName: 'equipment',
    allowBlank: true,
    assumedSize: 2,
    link: EQUIPMENT_LINK_TABLE,
  })
  declare equipmentIds: number[];
  @Ref(() => License, { label: 'License', default: 2, defaultDescription: 'CC-BY-SA 4' })
  declare licenseId: number;
  @TextField({ ...LICENSE_AUTHOR_FIELD_OPTIONS, indexedForSorting: false })
  declare licenseAuthor: string | null;
  @Ref(() => Variation, {
    label: 'Variation',
    restKey: 'variations',
    helpText: 'The group of variations that the exercise belongs to.',
    allowNull: true,
  })
  declare variationId: number | null;
  @Children(() => ExerciseTranslation, 'exerciseId', {
    isSavedWithParent: true,
    assumedSize: 3,
    description: 'The translations, pending ones included.',
  })
  declare translations: ExerciseTranslation[];
  @Children(() => ExerciseImage, 'exerciseId', {
    isSavedWithParent: true,
    assumedSize: 3,
    description: 'Main image first.',
  })
  declare images: ExerciseImage[];
  @Children(() => WorkoutLog, 'exerciseId', {
    isConnection: true,
    description: 'Workout logs of this exercise by the signed-in user, in all translations.',
  })
  declare logs: WorkoutLog[];
}

@Resolver(() => Exercise)
export default class ExerciseResolver extends createCrudResolver(Exercise, {
  addDerivedValues: addReviewValues,
}) {
  @FieldResolver(() => String, {
    description:
      'The name in the given language if there is an accepted translation into it, the oldest one; otherwise in English, or in the oldest accepted translation. Empty without one.',
  })
  @FieldExtensions({ acceptsAnyArguments: true })
  @RequiresFields(() => Exercise, 'id', 'name')
  async name(
    @Root() { id, name }: RowFields<Exercise, 'id' | 'name'>,
    @Arg('language', () => String, {
      nullable: true,
      description: 'The `shortName` of the language, such as `de`.',
    })
    code: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<string> {
    const languages = context.services.catalogue.rowsOf(Language);
    const language = languages.find(({ shortName }) => shortName === code);

    if (!language && name) return name;
    const translations = (await loadChildFields(
      ExerciseTranslation,
      'exerciseId',
      ['id', 'name', 'languageId', 'status'],
      id,
      context,
    )) as RowFields<ExerciseTranslation, 'id' | 'name' | 'languageId' | 'status'>[];
    const oldestFirst = translations.sort((a, b) => a.id - b.id);
    const preferred = oldestFirst.find(
      ({ languageId, status }) => languageId === language?.id && status === ACCEPTED_STATUS,
    );

    // Contributions that are not accepted have a name only for those who see their translations.
    return preferred?.name ?? (name || (oldestFirst[0]?.name ?? ''));
  }
}
