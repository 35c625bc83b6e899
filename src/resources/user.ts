import { Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { Column, DataType, Model } from 'sequelize-typescript';
import type { Context } from '../core/context';
import { crud } from '../core/schema/crud';
import { defaults, Flag, Id, Moment, Text, type PartOf } from '../core/model/fields';
import { Children } from '../core/model/relationfields';
import { loadChildren } from '../core/read/loaders';
import { Needs } from '../core/read/plan';
import { Resource } from '../core/model/resource';
import { readOne } from '../core/read/row';
import { DiaryEntry } from './diaryentry';
import { Meal } from './meal';
import { MealItem } from './mealitem';
import { NutritionPlan } from './nutritionplan';
import { Schedule } from './schedule';
import { ScheduleStep } from './schedulestep';
import { Setting } from './setting';
import { TrainingDay } from './trainingday';
import { UserProfile } from './userprofile';
import { WeightEntry } from './weightentry';
import { Workout } from './workout';
import { WorkoutLog } from './workoutlog';
import { WorkoutSession } from './workoutsession';
import { WorkoutSet } from './workoutset';

const all = (help: string) => ({ connection: true, help }) as const;

@Resource({
  table: 'user_account',
  description: 'A person who signs in, and everything that is theirs. Everybody sees only themselves.',
  dump: 'auth.user',
  owned: true,
  group: 'account',
  owner: 'id',
  queries: false,
  writes: [],
  ordering: ['id'],
  unique: ['username'],
})
export class User extends Model<User> {
  @Id() declare id: number;
  @Text({ label: 'User name', note: 'With which they sign in.', max: 150 }) declare username: string;
  @Text({ label: 'First name', note: 'Given name.', max: 150, blank: true }) declare firstName: string;
  @Text({ label: 'Last name', note: 'Family name.', max: 150, blank: true }) declare lastName: string;
  @Text({ label: 'E-mail address', note: 'Where they are written to.', max: 254, blank: true }) declare email: string;
  @Flag({ label: 'Active', help: 'An inactive user cannot sign in.', default: true }) declare isActive: boolean;
  @Flag({ label: 'Staff', note: 'Whether they help to run the service.', default: false }) declare isStaff: boolean;
  @Flag({ label: 'Superuser', help: 'What they contribute is accepted at once.', default: false }) declare isSuperuser: boolean;
  @Moment({ label: 'Joined', note: 'When the account was made.', default: defaults.now }) declare dateJoined: string;
  @Moment({ label: 'Last login', note: 'When they last signed in; null if never.', null: true }) declare lastLogin: string | null;
  /** A hash; never a field of any interface. */
  @Column({ type: DataType.TEXT, allowNull: false }) declare password: string;

  @Children(() => Workout, 'userId', all('Their plans of training.')) declare workouts: Workout[];
  @Children(() => TrainingDay, 'userId', all('The days of all their workouts.')) declare trainingDays: TrainingDay[];
  @Children(() => WorkoutSet, 'userId', all('The sets of all their training days.')) declare allWorkoutSets: WorkoutSet[];
  @Children(() => Setting, 'userId', all('The settings of all their sets.')) declare allSettings: Setting[];
  @Children(() => WorkoutSession, 'userId', all('When they trained, and how it went.')) declare workoutSessions: WorkoutSession[];
  @Children(() => WorkoutLog, 'userId', all('What they did, set by set.')) declare workoutLogs: WorkoutLog[];
  @Children(() => Schedule, 'userId', all('Workouts that they do one after the other.')) declare schedules: Schedule[];
  @Children(() => ScheduleStep, 'userId', all('The steps of all their schedules.')) declare allScheduleSteps: ScheduleStep[];
  @Children(() => NutritionPlan, 'userId', all('What they mean to eat.')) declare nutritionPlans: NutritionPlan[];
  @Children(() => Meal, 'userId', all('The meals of all their plans.')) declare allMeals: Meal[];
  @Children(() => MealItem, 'userId', all('What all those meals consist of.')) declare mealItems: MealItem[];
  @Children(() => DiaryEntry, 'userId', all('What they ate.')) declare diaryEntries: DiaryEntry[];
  @Children(() => WeightEntry, 'userId', all('What they weighed.')) declare weightEntries: WeightEntry[];
}

@Resolver(() => User)
export default class UserResolver extends crud(User) {
  @Query(() => User, { nullable: true, description: 'The signed-in user; null for anonymous requests.' })
  viewer(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return context.viewer && readOne(User, context.viewer.id, context, info);
  }

  @FieldResolver(() => String, { description: 'First and last name, or the user name if neither is given.' })
  @Needs(() => User, 'firstName', 'lastName', 'username')
  name(@Root() user: PartOf<User, 'firstName' | 'lastName' | 'username'>): string {
    return `${user.firstName} ${user.lastName}`.trim() || user.username;
  }

  @FieldResolver(() => UserProfile, { nullable: true, description: 'Preferences and body facts.' })
  @Needs(() => User, 'id')
  async profile(@Root() user: PartOf<User, 'id'>, @Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return (await loadChildren(UserProfile, 'userId', [], user.id, context, info))[0] ?? null;
  }
}
