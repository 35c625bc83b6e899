/** Loads all modules of `resources/` and builds the GraphQL schemas from their models and resolvers. */
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { lexicographicSortSchema, type GraphQLSchema } from 'graphql';
import { AdherenceResolver, PlannedExerciseResolver } from '../analysis/adherence';
import { BodyWeightResolver } from '../analysis/bodyweight';
import { EatenFoodResolver } from '../analysis/foods';
import { NutritionIntakeResolver } from '../analysis/intake';
import { StrengthResolver } from '../analysis/strength';
import { IntensityResolver } from '../analysis/intensity';
import { TrainingLoadResolver } from '../analysis/trainingload';
import { PlannedTrainingResolver } from '../analysis/plannedtraining';
import { BestOfExerciseResolver, BestOneRepMaxResolver, OneRepMaxResolver } from '../analysis/onerepmax';
import { PersonalRecordResolver, RecordsOfExerciseResolver } from '../analysis/records';
import { MuscleVolumeResolver, TrainingVolumeResolver, VolumeOfExerciseResolver } from '../analysis/volume';
import { TrainingWeekResolver } from '../analysis/weeks';
import { EventResolver } from '../auth/eventresolver';
import { AuthResolver } from '../auth/resolver';
import { AccessTokenResolver } from '../auth/tokenresolver';
import { ChangeResolver } from '../core/changes/changeresolver';
import { RateLimitResolver } from '../core/operation/ratelimit';
import { NodeResolver } from '../core/schema/noderesolver';
import { publicSchema, restSchema } from './schematransforms';
import { Registry, type ResourceModule } from './registry';

const resourcesFolder = join(__dirname, '../resources');
const resourceNames = readdirSync(resourcesFolder)
  .map((file) => file.replace(/\.(ts|js)$/, ''))
  .filter((file) => !/\.|^_/.test(file))
  .sort();

// Modules may load in any order, because resources refer to each other only inside thunks.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the files are found at start, not named here
const modules = [...new Set(resourceNames)].map((file) => require(join(resourcesFolder, file)) as ResourceModule);

export const registry = Registry.collect(modules, [
  NodeResolver,
  ChangeResolver,
  AuthResolver,
  AccessTokenResolver,
  EventResolver,
  RateLimitResolver,
  BestOneRepMaxResolver,
  BestOfExerciseResolver,
  OneRepMaxResolver,
  NutritionIntakeResolver,
  EatenFoodResolver,
  StrengthResolver,
  AdherenceResolver,
  PlannedExerciseResolver,
  PlannedTrainingResolver,
  PersonalRecordResolver,
  RecordsOfExerciseResolver,
  BodyWeightResolver,
  TrainingLoadResolver,
  TrainingWeekResolver,
  IntensityResolver,
  MuscleVolumeResolver,
  TrainingVolumeResolver,
  VolumeOfExerciseResolver,
]);

export const models = registry.link();

const memoize = <T>(make: () => T): (() => T) => {
  let cachedValue: { value: T } | undefined;
  return () => (cachedValue ??= { value: make() }).value;
};

/** The full schema, shared by the GraphQL and the REST schema of a process. */
const buildFullSchema = memoize(() => registry.build());

export const buildGraphQLSchema = memoize(() => publicSchema(buildFullSchema()));

export const buildRestSchema = memoize(() => restSchema(buildFullSchema()));

/** Prints the schema as committed in schema.graphql. */
export const printSchemaSorted = (schema: GraphQLSchema): string => `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;
