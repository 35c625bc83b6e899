import { randomUUID } from 'node:crypto';
import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  BooleanField,
  ChoiceField,
  DateField,
  defaultValues,
  Id,
  TextField,
  UuidField,
} from '../../engine/declare/fields';
import { Children, Links, Ref, Resource } from '../../engine/declare/resource';
import { Equipment } from './equipment';
import {
  EQUIPMENT_LINK_TABLE,
  Exercise,
  PRIMARY_MUSCLE_LINK_TABLE,
  SECONDARY_MUSCLE_LINK_TABLE,
} from './exercise';
import { ExerciseCategory } from './exercise-category';
import { ExerciseComment } from './exercise-comment';
import { ExerciseImage } from './exercise-image';
import { Language } from './language';
import { License, LICENSE_AUTHOR_FIELD_OPTIONS } from './license';
import { Muscle } from './muscle';
import {
  ACCEPTED_STATUS,
  addReviewValues,
  PUBLISHED_COLUMN_VALUES,
  RETIRED_FIELD_OPTIONS,
  REVIEW_STATUS_FIELD_OPTIONS,
} from './review-status';
import { searchPreferences } from './search-preferences';
import { WorkoutLog } from '../training/workout-log';

const EXERCISE_ID_COLUMN = 'exercise_base_id';
const exerciseColumn = (column: string) => ({
  table: 'exercise_base',
  referenceColumn: EXERCISE_ID_COLUMN,
  column,
});

/**
 * SQL: ids of the accepted exercises in the same language and variation group as an exercise,
 * itself included.
 */
const variationIdsSql = (alias: string) =>
  `ARRAY(SELECT e."id" FROM "exercise_base" own JOIN "exercise_base" b
    ON b."variation_id" = own."variation_id"
    JOIN "exercise" e ON e."exercise_base_id" = b."id" WHERE own."id" = ${alias}."exercise_base_id"
   AND e."language_id" = ${alias}."language_id" AND e."status" = '${ACCEPTED_STATUS}'
     ORDER BY b."id", e."id")`;

@Resource({
  restName: 'exercise',
  title: 'Exercise',
  table: 'exercise',
  inReference: { apiRootPosition: 16 },
  dumpModelName: 'exercises.exercise',
  partKeyFieldNames: ['languageId'],
  description:
    'An exercise in one language: its name and description, and what all translations of the exercise share.',
  ordering: ['name'],
  groupKeyPaths: {},
  publishedColumnValues: PUBLISHED_COLUMN_VALUES,
  searchPreferences: searchPreferences('exercise_id', () => [WorkoutLog]),
  permittedMethods: ['POST'],
  filters: [
    'uuid',
    'createdOn',
    'description',
    'languageId',
    'status',
    'name',
    { field: 'categoryId', syntax: 'loose' },
    { field: 'muscleIds', syntax: 'commaIds' },
    { field: 'musclesSecondaryIds', syntax: 'commaIds' },
    { field: 'equipmentIds', syntax: 'commaIds' },
    { parameterName: 'license', field: 'baseLicenseId', syntax: 'loose' },
  ],
  views: {
    exerciseinfo: {
      inReference: { apiRootPosition: 15 },
      title: 'Exercise Info Viewset',
      filters: [
        'createdOn',
        'description',
        'languageId',
        'name',
        'exerciseId',
        'licenseId',
        'licenseAuthor',
      ],
      graphqlSelection: `id name uuid description creation_date: createdOn category { ...exercisecategory } muscles { ...muscle }
        muscles_secondary: musclesSecondary { ...muscle } equipment { ...equipment } language { ...language } license { ...license }
        license_author: licenseAuthor images { ...exerciseimage } comments { ...exercisecomment } variations: variationIds`,
    },
  },
})
export class ExerciseTranslation extends Model<ExerciseTranslation> {
  @Id() declare id: number;
  @UuidField({
    description: 'Identifies the translation across servers: copies have the same UUID.',
    readOnly: true,
    default: () => randomUUID(),
  })
  declare uuid: string;
  @TextField({
    label: 'Name',
    description: 'The name in its own language.',
    max: 200,
    indexedForSearch: true,
    searchedWithColumns: ['aliases'],
    indexedForSorting: true,
  })
  declare name: string;
  @ChoiceField({ ...REVIEW_STATUS_FIELD_OPTIONS, readOnly: 'rest' }) declare status: string;
  @BooleanField({ ...RETIRED_FIELD_OPTIONS, readOnly: true }) declare isRetired: boolean;
  @TextField({
    label: 'Description',
    helpText: 'How the exercise is done, as HTML.',
    min: 40,
    max: 2000,
    isHtml: true,
  })
  declare description: string;
  @DateField({
    label: 'Date',
    description: 'The day on which it was contributed, if known.',
    columnAndRestKey: 'creation_date',
    readOnly: true,
    allowNull: true,
    default: defaultValues.today,
  })
  declare createdOn: string | null;
  @Ref(() => ExerciseCategory, {
    label: 'Category',
    relatedColumn: exerciseColumn('category_id'),
  })
  declare categoryId: number;
  @Links(() => Muscle, {
    label: 'Muscles',
    relationFieldName: 'muscles',
    assumedSize: 2,
    link: { ...PRIMARY_MUSCLE_LINK_TABLE, keyColumn: EXERCISE_ID_COLUMN },
  })
  declare muscleIds: number[];
  @Links(() => Muscle, {
    label: 'Muscles secondary',
    relationFieldName: 'musclesSecondary',
    assumedSize: 2,
    link: { ...SECONDARY_MUSCLE_LINK_TABLE, keyColumn: EXERCISE_ID_COLUMN },
  })
  declare musclesSecondaryIds: number[];
  @Links(() => Equipment, {
    label: 'Equipment',
    relationFieldName: 'equipment',
    assumedSize: 2,
    link: { ...EQUIPMENT_LINK_TABLE, keyColumn: EXERCISE_ID_COLUMN },
  })
  declare equipmentIds: number[];
  @Ref(() => Language, { label: 'Language' }) declare languageId: number;
  @Ref(() => License, { label: 'License', default: 2, defaultDescription: 'CC-BY-SA 4' })
  declare licenseId: number;
  @TextField(LICENSE_AUTHOR_FIELD_OPTIONS) declare licenseAuthor: string | null;
  @Links(() => ExerciseTranslation, {
    label: 'Variations',
    helpText:
      'Ids of the exercises of the same language in the same group of variations, this one included.',
    relationFieldName: 'variations',
    assumedSize: 4,
    sql: variationIdsSql,
    groupColumn: exerciseColumn('variation_id'),
  })
  declare variationIds: number[];
  @TextField({
    label: 'Original name',
    helpText: 'The name as it was entered.',
    max: 200,
    default: '',
    hiddenInRest: true,
    allowBlank: true,
  })
  declare nameOriginal: string;
  @TextField({
    label: 'Aliases',
    description: 'Other names, one a line, e.g. RDL.',
    max: 1000,
    default: '',
    hiddenInRest: true,
    restSortable: false,
    allowBlank: true,
  })
  declare aliases: string;
  @Ref(() => Exercise, {
    label: 'Exercise base',
    column: EXERCISE_ID_COLUMN,
    restKey: 'exercise_base',
    hiddenInRest: true,
  })
  declare exerciseId: number;
  @Ref(() => License, {
    label: 'License of the exercise',
    relatedColumn: exerciseColumn('license_id'),
    hiddenInRest: true,
  })
  declare baseLicenseId: number;
  @Children(() => ExerciseComment, 'translationId', {
    isSavedWithParent: true,
    assumedSize: 3,
    description: 'Short hints.',
  })
  declare comments: ExerciseComment[];
  @Children(() => ExerciseImage, 'exerciseId', {
    keyFieldName: 'exerciseId',
    assumedSize: 3,
    description: 'Images of the exercise, main image first.',
  })
  declare images: ExerciseImage[];
  @Children(() => WorkoutLog, 'translationId', {
    isConnection: true,
    exclusiveTo: 'rest',
    description: 'Workout logs of this translation by the signed-in user.',
  })
  declare logs: WorkoutLog[];
}

export default createCrudResolver(ExerciseTranslation, { addDerivedValues: addReviewValues });
