/**
 * The resolvers of the GraphQL schema: resources, analyses, and fields about the server itself.
 * Resources refer to each other lazily.
 */
import CatalogueChangeResolver from './catalogue/catalogue-change';
import DayOfWeekResolver from './training/day-of-week';
import DiaryEntryResolver from './nutrition/diary-entry';
import EquipmentResolver from './catalogue/equipment';
import ExerciseResolver from './catalogue/exercise';
import ExerciseTranslationResolver from './catalogue/exercise-translation';
import ExerciseCategoryResolver from './catalogue/exercise-category';
import ExerciseCommentResolver from './catalogue/exercise-comment';
import ExerciseImageResolver from './catalogue/exercise-image';
import HouseholdUnitResolver from './catalogue/household-unit';
import IngredientResolver from './catalogue/ingredient';
import { RefusedFoodResolver } from './catalogue/refused-food';
import IngredientUnitResolver from './catalogue/ingredient-unit';
import LanguageResolver from './catalogue/language';
import LicenseResolver from './catalogue/license';
import MeasurementResolver from './body/measurement';
import MeasurementCategoryResolver from './body/measurement-category';
import MealResolver from './nutrition/meal';
import MealItemResolver from './nutrition/meal-item';
import MuscleResolver from './catalogue/muscle';
import NutritionPlanResolver from './nutrition/nutrition-plan';
import PlannedSetResolver from './training/planned-set';
import RecipePartResolver from './catalogue/recipe';
import RepetitionUnitResolver from './training/repetition-unit';
import ScheduleResolver from './training/schedule';
import ScheduleStepResolver from './training/schedule-step';
import SearchResolver from './catalogue/search';
import SetGroupResolver from './training/set-group';
import TrainingDayResolver from './training/training-day';
import UserResolver from '../accounts/user';
import UserProfileResolver from '../accounts/user-profile';
import VariationResolver from './catalogue/variation';
import VersionResolver from './version';
import WeightEntryResolver from './body/weight-entry';
import WeightUnitResolver from './training/weight-unit';
import WorkoutResolver from './training/workout';
import WorkoutLogResolver from './training/workout-log';
import WorkoutSessionResolver from './training/workout-session';
import { AdministrationResolver } from '../accounts/administration-resolver';
import { EventResolver } from '../accounts/event-resolver';
import { AuthResolver } from '../accounts/resolver';
import { AccessTokenResolver } from '../accounts/token-resolver';
import { ChangeResolver } from '../engine/changes/change-resolver';
import { RateLimitResolver } from '../engine/execution/rate-limit';
import { NodeResolver } from '../engine/schema/node-resolver';
import { InputErrorResolver } from '../engine/schema/payload';
import { AdherenceResolver, PlannedExerciseResolver } from './training/adherence';
import { BodyWeightResolver } from './body/body-weight';
import { FutureRowsResolver } from './future-rows';
import { EatenFoodResolver } from './nutrition/foods';
import { NutritionIntakeResolver } from './nutrition/intake';
import { IntensityResolver } from './training/intensity';
import {
  BestOneRepMaxResolver,
  ExerciseOneRepMaxResolver,
  OneRepMaxResolver,
} from './training/one-rep-max';
import { PlannedTrainingResolver } from './training/planned-training';
import { PersonalRecordResolver, ExerciseRecordsResolver } from './training/records';
import { StrengthResolver } from './training/strength';
import { TrainingLoadResolver } from './training/training-load';
import {
  MuscleVolumeResolver,
  TrainingVolumeResolver,
  ExerciseVolumeResolver,
} from './training/volume';
import { TrainingWeekResolver } from './training/weeks';

export const resolvers: readonly (new () => object)[] = [
  CatalogueChangeResolver,
  DayOfWeekResolver,
  DiaryEntryResolver,
  EquipmentResolver,
  ExerciseResolver,
  ExerciseTranslationResolver,
  ExerciseCategoryResolver,
  ExerciseCommentResolver,
  ExerciseImageResolver,
  HouseholdUnitResolver,
  IngredientResolver,
  RefusedFoodResolver,
  IngredientUnitResolver,
  LanguageResolver,
  LicenseResolver,
  MeasurementResolver,
  MeasurementCategoryResolver,
  MealResolver,
  MealItemResolver,
  MuscleResolver,
  NutritionPlanResolver,
  PlannedSetResolver,
  RecipePartResolver,
  RepetitionUnitResolver,
  ScheduleResolver,
  ScheduleStepResolver,
  SearchResolver,
  SetGroupResolver,
  TrainingDayResolver,
  UserResolver,
  UserProfileResolver,
  VariationResolver,
  VersionResolver,
  WeightEntryResolver,
  WeightUnitResolver,
  WorkoutResolver,
  WorkoutLogResolver,
  WorkoutSessionResolver,
  NodeResolver,
  InputErrorResolver,
  ChangeResolver,
  AuthResolver,
  AccessTokenResolver,
  EventResolver,
  AdministrationResolver,
  RateLimitResolver,
  AdherenceResolver,
  PlannedExerciseResolver,
  BodyWeightResolver,
  FutureRowsResolver,
  EatenFoodResolver,
  NutritionIntakeResolver,
  IntensityResolver,
  BestOneRepMaxResolver,
  ExerciseOneRepMaxResolver,
  OneRepMaxResolver,
  PlannedTrainingResolver,
  PersonalRecordResolver,
  ExerciseRecordsResolver,
  StrengthResolver,
  TrainingLoadResolver,
  MuscleVolumeResolver,
  TrainingVolumeResolver,
  ExerciseVolumeResolver,
  TrainingWeekResolver,
];
