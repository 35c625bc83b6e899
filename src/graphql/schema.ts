/** Every file of resources/: its model and its resolver; the GraphQL schema built of them. */
import 'reflect-metadata';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isInputObjectType, lexicographicSortSchema, printSchema, type GraphQLInterfaceType, type GraphQLSchema } from 'graphql';
import { Model, type ModelCtor } from 'sequelize-typescript';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { AdherenceResolver, PlannedExerciseResolver } from '../analysis/adherence';
import { BodyWeightResolver } from '../analysis/bodyweight';
import { EatenFoodResolver } from '../analysis/foods';
import { NutritionIntakeResolver } from '../analysis/intake';
import { StrengthResolver } from '../analysis/strength';
import { IntensityResolver } from '../analysis/intensity';
import { TrainingLoadResolver } from '../analysis/load';
import { BestOneRepMaxResolver, OneRepMaxResolver } from '../analysis/onerepmax';
import { PersonalRecordResolver } from '../analysis/records';
import { MuscleVolumeResolver, TrainingVolumeResolver } from '../analysis/volume';
import { TrainingWeekResolver } from '../analysis/weeks';
import { EventResolver } from '../auth/eventresolver';
import { AuthResolver } from '../auth/resolver';
import { AccessTokenResolver } from '../auth/tokenresolver';
import { associate } from '../core/model/associations';
import { groupingResolvers } from '../core/grouping/types';
import { index } from '../core/model/indexes';
import { completeInputs } from '../core/schema/inputs';
import { LiveResolver, nameRowTypes } from '../core/changes/live';
import { completeRelations } from '../core/schema/relations';
import { RateLimitResolver } from '../core/operation/ratelimit';
import { RootResolver } from '../core/schema/root';
import { publicSchema, restSchema } from './interfaces';

type Loaded = Record<string, unknown>;

const folder = join(__dirname, '../resources');
const files = readdirSync(folder)
  .map((file) => file.replace(/\.(ts|js)$/, ''))
  .filter((file) => !/\.|^_/.test(file))
  .sort();

// Resources refer to each other inside thunks only, so any order of loading is right.
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the files are found at start, not named here
const modules = [...new Set(files)].map((file) => require(join(folder, file)) as Loaded);

const tables = modules
  .flatMap((module) => Object.values(module))
  .filter((value): value is ModelCtor => typeof value === 'function' && value.prototype instanceof Model);

index(tables);
export const models = [...tables, ...associate(tables)];

const resolvers = [
  ...modules.map((module) => module.default).filter(Boolean),
  RootResolver,
  LiveResolver,
  AuthResolver,
  AccessTokenResolver,
  EventResolver,
  RateLimitResolver,
  BestOneRepMaxResolver,
  OneRepMaxResolver,
  NutritionIntakeResolver,
  EatenFoodResolver,
  StrengthResolver,
  AdherenceResolver,
  PlannedExerciseResolver,
  PersonalRecordResolver,
  BodyWeightResolver,
  TrainingLoadResolver,
  TrainingWeekResolver,
  IntensityResolver,
  MuscleVolumeResolver,
  TrainingVolumeResolver,
] as unknown as NonEmptyArray<new () => object>;

/** Subscriptions have sources of their own, but type-graphql wants one to be named. */
const NONE: PubSub = { publish: () => undefined, subscribe: () => ({ [Symbol.asyncIterator]: () => (async function* () {})() }) };

const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** Everything that resolvers answer, whoever asks for it. */
const whole = once(build);

/** What everybody may ask for. */
export const buildGraphQLSchema = once(() => publicSchema(whole()));

/** What REST executes, and nobody else. */
export const buildRestSchema = once(() => restSchema(whole()));

function build(): GraphQLSchema {
  completeRelations();
  completeInputs();
  nameRowTypes();
  const schema = buildSchemaSync({ resolvers: [...resolvers, ...groupingResolvers()], validate: false, pubSub: NONE });
  // type-graphql wraps a type resolver of its own in a promise, which compiled operations do not await.
  (schema.getType('Node') as GraphQLInterfaceType).resolveType = (row) => row.__typename;
  // type-graphql does not know such inputs yet.
  for (const type of Object.values(schema.getTypeMap())) if (isInputObjectType(type) && type.extensions.oneOf) type.isOneOf = true;
  // type-graphql makes the operation types without a word.
  schema.getQueryType()!.description = 'What can be read. Lists of rows are connections.';
  schema.getMutationType()!.description = 'What can be changed, each a transaction of its own, one after the other.';
  schema.getSubscriptionType()!.description = 'What is told as it happens.';
  return schema;
}

/** As committed in schema.graphql. */
export const printed = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
