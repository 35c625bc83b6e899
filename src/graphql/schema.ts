/** Every file of resources/: its model and its resolver; the GraphQL schema built of them. */
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
import { TrainingLoadResolver } from '../analysis/load';
import { PlannedTrainingResolver } from '../analysis/plannedtraining';
import { BestOfExerciseResolver, BestOneRepMaxResolver, OneRepMaxResolver } from '../analysis/onerepmax';
import { PersonalRecordResolver, RecordsOfExerciseResolver } from '../analysis/records';
import { MuscleVolumeResolver, TrainingVolumeResolver, VolumeOfExerciseResolver } from '../analysis/volume';
import { TrainingWeekResolver } from '../analysis/weeks';
import { EventResolver } from '../auth/eventresolver';
import { AuthResolver } from '../auth/resolver';
import { AccessTokenResolver } from '../auth/tokenresolver';
import { LiveResolver } from '../core/changes/live';
import { RateLimitResolver } from '../core/operation/ratelimit';
import { RootResolver } from '../core/schema/root';
import { publicSchema, restSchema } from './interfaces';
import { Registry, type Declared } from './registry';

const folder = join(__dirname, '../resources');
const files = readdirSync(folder)
  .map((file) => file.replace(/\.(ts|js)$/, ''))
  .filter((file) => !/\.|^_/.test(file))
  .sort();

// Resources refer to each other inside thunks only, so any order of loading is right.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the files are found at start, not named here
const modules = [...new Set(files)].map((file) => require(join(folder, file)) as Declared);

export const registry = Registry.collect(modules, [
  RootResolver,
  LiveResolver,
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

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** Of a process that serves both. */
const whole = once(() => registry.build());

export const buildGraphQLSchema = once(() => publicSchema(whole()));

export const buildRestSchema = once(() => restSchema(whole()));

/** As committed in schema.graphql. */
export const printed = (schema: GraphQLSchema): string => `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;
