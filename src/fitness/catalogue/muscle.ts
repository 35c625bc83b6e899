import { Model } from 'sequelize-typescript';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../engine/context';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  ComputedField,
  BooleanField,
  Id,
  TextField,
  type RowFields,
} from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { RequiresFields } from '../../engine/read/query-plan';
import { Exercise } from './exercise';
import { ExerciseTranslation } from './exercise-translation';

const imageUrlSql = (kind: string) => (alias: string) =>
  `('/static/images/muscles/${kind}/muscle-' || ${alias}."id" || '.svg')`;

/** GraphQL returns absolute URLs, REST paths. */
const drawingUrl = (path: string, { api, request: { baseUrl, basePath } }: Context): string =>
  (api === 'graphql' ? baseUrl : basePath) + path;

@Resource({
  restName: 'muscle',
  inReference: { apiRootPosition: 21 },
  dumpModelName: 'exercises.muscle',
  description: 'A muscle, with its Latin name.',
  ordering: ['name'],
  filters: ['name', 'isFront'],
  isCachedInMemory: true,
  lookupTableSize: 16,
})
export class Muscle extends Model<Muscle> {
  @Id() declare id: number;
  @TextField({ label: 'Name', helpText: 'In Latin, e.g. "Pectoralis major".', max: 50 })
  declare name: string;
  @BooleanField({ label: 'Is front', helpText: 'On the front of the body.', default: true })
  declare isFront: boolean;
  @ComputedField<string>(() => String, {
    label: 'Image url main',
    helpText: 'Drawing of the muscle as a primary one, relative to the host.',
    sql: imageUrlSql('main'),
  })
  declare imageUrlMain: string;
  @ComputedField<string>(() => String, {
    label: 'Image url secondary',
    helpText: 'Drawing of the muscle as a secondary one, relative to the host.',
    sql: imageUrlSql('secondary'),
    hiddenOnPages: true,
  })
  declare imageUrlSecondary: string;
  @Children(() => Exercise, 'muscleIds', {
    isConnection: true,
    exclusiveTo: 'graphql',
    description: 'Exercises with it as a primary muscle.',
  })
  declare exercises: Exercise[];
  @Children(() => ExerciseTranslation, 'muscleIds', {
    isConnection: true,
    exclusiveTo: 'rest',
    description: 'Exercises with it as a primary muscle.',
  })
  declare exerciseTranslations: ExerciseTranslation[];
  @Children(() => Exercise, 'musclesSecondaryIds', {
    isConnection: true,
    exclusiveTo: 'graphql',
    description: 'Exercises with it as a secondary muscle.',
  })
  declare exercisesSecondary: Exercise[];
  @Children(() => ExerciseTranslation, 'musclesSecondaryIds', {
    isConnection: true,
    exclusiveTo: 'rest',
    description: 'Exercises with it as a secondary muscle.',
  })
  declare exerciseTranslationsSecondary: ExerciseTranslation[];
}

const MuscleCrudResolver = createCrudResolver(Muscle);

@Resolver(() => Muscle)
export default class MuscleResolver extends MuscleCrudResolver {
  @FieldResolver(() => String, {
    description: 'URL of a drawing of the muscle as a primary one.',
  })
  @RequiresFields(() => Muscle, 'imageUrlMain')
  imageUrlMain(@Root() row: RowFields<Muscle, 'imageUrlMain'>, @Ctx() context: Context): string {
    return drawingUrl(row.imageUrlMain, context);
  }

  @FieldResolver(() => String, {
    description: 'URL of a drawing of the muscle as a secondary one.',
  })
  @RequiresFields(() => Muscle, 'imageUrlSecondary')
  imageUrlSecondary(
    @Root() row: RowFields<Muscle, 'imageUrlSecondary'>,
    @Ctx() context: Context,
  ): string {
    return drawingUrl(row.imageUrlSecondary, context);
  }
}
