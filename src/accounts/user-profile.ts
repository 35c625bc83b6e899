/** The profile of a user: preferences and body measurements. */
import { DateTime } from 'luxon';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { FieldExtensions } from '../engine/declare/field-extensions';
import { Model } from 'sequelize-typescript';
import type { Context } from '../engine/context';
import type { Transaction } from '../database/transaction';
import { invalidValueIssue, throwIfInvalid } from '../engine/declare/errors';
import { registerChoices } from '../engine/declare/choices';
import { todayIn } from '../engine/declare/clock';
import { createCrudResolver } from '../engine/schema/crud';
import {
  ChoiceField,
  DateField,
  BooleanField,
  Id,
  IntegerField,
  TextField,
  type RowFields,
} from '../engine/declare/fields';
import { Owner, Ref, Resource } from '../engine/declare/resource';
import { loadRowFields } from '../engine/read/loaders';
import { RequiresFields } from '../engine/read/query-plan';
import { Language } from '../fitness/catalogue/language';
import { UNIT_SYSTEM_CHOICES } from '../fitness/unit-system';
import { NOT_A_TIME_ZONE_MESSAGE } from '../shared/messages';
import { resolveTimeZone } from '../shared/time-zones';
import { User } from './user';

const INTENSITY_CHOICES = registerChoices('Intensity', 'How physically demanding an activity is.', [
  ['LOW', '1', 'Low', 'Mostly sitting.'],
  ['MEDIUM', '2', 'Medium', 'Mostly standing or walking.'],
  ['HIGH', '3', 'High', 'Physically hard.'],
]);

export const GENDER_CHOICES = registerChoices(
  'Gender',
  'The gender of a person, as used by formulas for energy and strength.',
  [
    ['MALE', '1', 'Male', 'A man.'],
    ['FEMALE', '2', 'Female', 'A woman.'],
  ],
);

/** Options of a setting of the reference service that no feature of Fitgraph reads. */
const REST_ONLY_SETTING = { exclusiveTo: 'rest', hiddenOnPages: true } as const;

const HOURS_PER_DAY = {
  helpText: 'Average hours per day.',
  min: 1,
  max: 15,
  allowNull: true,
  default: 8,
  hiddenOnPages: true,
} as const;

const INTENSITY = {
  label: 'Physical intensity',
  choices: INTENSITY_CHOICES,
  allowNull: true,
  max: 1,
  hiddenOnPages: true,
} as const;

const AGE_RANGE = { min: 10, max: 100 } as const;

/**
 * Parses a day as midnight in UTC. In a time zone whose clocks change at midnight, a day can begin
 * at 01:00, which would make the time between two birthdays shorter than a full year.
 */
const utcMidnight = (day: string) => DateTime.fromISO(day, { zone: 'utc' });

const fullYearsBetween = (birthDate: string, day: string) =>
  Math.floor(utcMidnight(day).diff(utcMidnight(birthDate), 'years').years);

/** Accepts birth dates from exactly 100 to exactly 10 years before today (AGE_RANGE). */
const birthDateErrors = (value: unknown, timeZone: string) => {
  const today = utcMidnight(todayIn(timeZone));
  const birthDate = utcMidnight(String(value));

  const isTooYoung = birthDate.plus({ years: AGE_RANGE.min }) > today;
  const isTooOld = birthDate.plus({ years: AGE_RANGE.max }) < today;

  return isTooYoung || isTooOld ? [`${String(value)} is not a valid birthdate`] : [];
};

@Resource({
  restName: 'userprofile',
  inReference: { apiRootPosition: 9 },
  dumpModelName: 'core.userprofile',
  description: 'Preferences and body measurements of a user. Each user has exactly one profile.',
  labelFieldPaths: ['user.username'],
  isOwned: true,
  scopeGroup: 'account',
  ordering: ['id'],
  uniqueFields: ['userId'],
  hasRootQueries: 'rest',
  viewerMutationName: 'updateProfile',
  writeOperations: ['update'],
  routes: 'all',
  permittedMethods: ['PATCH'],
})
export class UserProfile extends Model<UserProfile> {
  @Id() declare id: number;
  @Owner(() => User) declare userId: number;
  @IntegerField({
    label: 'Gym',
    description: 'Number of the gym that the user belongs to.',
    allowNull: true,
    readOnly: true,
    ...REST_ONLY_SETTING,
  })
  declare gym: number | null;
  @BooleanField({
    label: 'Is temporary',
    description: 'Whether it is a trial account.',
    readOnly: true,
    default: false,
    ...REST_ONLY_SETTING,
  })
  declare isTemporary: boolean;
  @BooleanField({
    label: 'Show exercise comments',
    helpText: 'Show the hints on exercises in the workout view.',
    default: true,
    ...REST_ONLY_SETTING,
  })
  declare showComments: boolean;
  @BooleanField({
    label: 'Also use ingredients in English',
    helpText: 'Also show ingredients in English while making a nutrition plan.',
    default: true,
  })
  declare showEnglishIngredients: boolean;
  @BooleanField({
    label: 'Activate workout reminders',
    columnAndRestKey: 'workout_reminder_active',
    helpText: 'Whether to be reminded when a workout is about to end.',
    default: false,
    ...REST_ONLY_SETTING,
  })
  declare isWorkoutReminderActive: boolean;
  @IntegerField({
    label: 'Remind before expiration',
    helpText: 'How many days before.',
    min: 1,
    max: 30,
    default: 14,
    ...REST_ONLY_SETTING,
  })
  declare workoutReminder: number;
  @IntegerField({
    label: 'Default duration of workouts',
    helpText: 'In weeks, for workouts outside schedules.',
    min: 1,
    max: 30,
    default: 12,
    ...REST_ONLY_SETTING,
  })
  declare workoutDuration: number;
  @DateField({
    label: 'Last workout notification',
    columnAndRestKey: 'last_workout_notification',
    helpText: 'When the last reminder was sent.',
    allowNull: true,
    readOnly: true,
    ...REST_ONLY_SETTING,
  })
  declare lastWorkoutNotificationOn: string | null;
  @Ref(() => Language, {
    label: 'Notification language',
    helpText: 'Language of mails, e.g. reminders.',
    default: 2,
    ...REST_ONLY_SETTING,
  })
  declare notificationLanguageId: number;
  @BooleanField({
    label: 'Use pauses in workout timer',
    columnAndRestKey: 'timer_active',
    helpText: 'Whether to use timed pauses between exercises.',
    default: true,
    ...REST_ONLY_SETTING,
  })
  declare isTimerActive: boolean;
  @IntegerField({
    label: 'Default duration of workout pauses',
    helpText: 'In seconds.',
    min: 10,
    max: 400,
    default: 90,
    hiddenInRest: true,
    exclusiveTo: 'rest',
  })
  declare timerPause: number;
  @IntegerField({
    label: 'Age',
    description: 'In years; computed from the date of birth if only that is given.',
    ...AGE_RANGE,
    allowNull: true,
  })
  declare age: number | null;
  @DateField({
    label: 'Date of Birth',
    description: `The day on which the user was born; between ${AGE_RANGE.min} and ${AGE_RANGE.max} years ago.`,
    allowNull: true,
    check: birthDateErrors,
  })
  declare birthdate: string | null;
  @IntegerField({
    label: 'Height (cm)',
    description: 'In centimetres.',
    min: 140,
    max: 230,
    allowNull: true,
  })
  declare height: number | null;
  @ChoiceField({
    label: 'Gender',
    description: 'As stated by the user, or null.',
    choices: GENDER_CHOICES,
    allowNull: true,
    default: '1',
    max: 1,
  })
  declare gender: string | null;
  @IntegerField({
    label: 'Hours of sleep',
    helpText: 'The average hours of sleep per day.',
    min: 4,
    max: 10,
    allowNull: true,
    default: 7,
    hiddenOnPages: true,
  })
  declare sleepHours: number | null;
  @IntegerField({ label: 'Work', ...HOURS_PER_DAY })
  declare workHours: number | null;
  @ChoiceField({
    ...INTENSITY,
    description: 'How physically demanding the work is.',
    helpText: 'Intensity of the work.',
    default: '1',
  })
  declare workIntensity: string | null;
  @IntegerField({
    label: 'Sport',
    helpText: 'Average hours per week.',
    min: 1,
    max: 30,
    allowNull: true,
    default: 3,
    hiddenOnPages: true,
  })
  declare sportHours: number | null;
  @ChoiceField({
    ...INTENSITY,
    description: 'How physically demanding the sport is.',
    helpText: 'Intensity of the sport.',
    default: '2',
  })
  declare sportIntensity: string | null;
  @IntegerField({ label: 'Free time', ...HOURS_PER_DAY })
  declare freetimeHours: number | null;
  @ChoiceField({
    ...INTENSITY,
    description: 'How physically demanding the rest of the day is.',
    helpText: 'Intensity of the free time.',
    default: '1',
  })
  declare freetimeIntensity: string | null;
  @IntegerField({
    label: 'Total daily calories',
    helpText: 'In kcal; used by nutrition plans with a goal.',
    min: 1500,
    max: 5000,
    allowNull: true,
    default: 2500,
  })
  declare calories: number | null;
  @ChoiceField({
    label: 'Weight unit',
    columnAndRestKey: 'weight_unit',
    helpText:
      'kg or lb, the default for new weights; existing entries keep their unit. Totals of plans and of the diary use it.',
    graphqlDescription: 'The unit of new weights without one. Existing rows keep their unit.',
    choices: UNIT_SYSTEM_CHOICES,
    default: 'kg',
    max: 2,
  })
  declare unitSystem: string;
  @TextField({
    label: 'Time zone',
    description:
      'IANA name such as `Europe/Berlin`; null for that of the server. Determines the current day, except in REST.',
    max: 64,
    allowNull: true,
    hiddenInRest: true,
    restSortable: false,
    check: (value) => (resolveTimeZone(String(value)) === value ? [] : [NOT_A_TIME_ZONE_MESSAGE]),
  })
  declare timeZone: string | null;
  @Ref(() => Language, {
    label: 'Preferred language',
    description: 'Language of names on pages; null for those of the browser.',
    allowNull: true,
    hiddenInRest: true,
    restSortable: false,
  })
  declare preferredLanguageId: number | null;
  @BooleanField({
    label: 'Allow external access',
    helpText: 'Whether others may open your pages by their links.',
    default: false,
    ...REST_ONLY_SETTING,
  })
  declare roAccess: boolean;
  @IntegerField({
    label: 'Automatic reminders for weight entries',
    helpText: 'Days without an entry before a reminder is sent; 0 disables it.',
    min: 0,
    max: 30,
    default: 0,
    ...REST_ONLY_SETTING,
  })
  declare numDaysWeightReminder: number;
  @IntegerField({
    label: 'Added by',
    helpText: 'Id of the user whose application created the account.',
    allowNull: true,
    readOnly: true,
    hiddenInRest: true,
    exclusiveTo: 'rest',
  })
  declare addedBy: number | null;
  @BooleanField({
    label: 'May add users',
    description: 'Whether programs may create accounts on behalf of this one.',
    default: false,
    readOnly: true,
    hiddenInRest: true,
    exclusiveTo: 'rest',
  })
  declare canAddUser: boolean;
}

/** Rejects a time zone that Node knows and PostgreSQL does not. */
async function checkTimeZone(timeZone: unknown, transaction: Transaction): Promise<void> {
  if (timeZone == null) return;
  const rows = await transaction.query(
    'SELECT FROM pg_timezone_names WHERE lower("name") = lower($1)',
    [timeZone],
  );

  if (!rows.length) {
    throwIfInvalid([
      { path: ['input', 'timeZone'], ...invalidValueIssue(NOT_A_TIME_ZONE_MESSAGE) },
    ]);
  }
}

const UserProfileCrudResolver = createCrudResolver(UserProfile, {
  async beforeRowWrite(values, context, transaction, id) {
    await checkTimeZone(values.timeZone, transaction);
    // Computes the age from the birth date if no age is written or stored.
    if (values.age != null || values.birthdate === null) return;
    const row = await transaction
      .model(UserProfile)
      .findOne({ where: { id: id! }, attributes: ['age', 'birthdate'], lock: true });
    const age = values.age === undefined ? row?.get('age') : null;
    const birthDate = values.birthdate ?? row?.get('birthdate');

    if (age == null && birthDate) {
      values.age = fullYearsBetween(String(birthDate), todayIn(context.timeZone));
    }
  },
});

@Resolver(() => UserProfile)
export default class UserProfileResolver extends UserProfileCrudResolver {
  @FieldResolver(() => String, { description: 'The name with which the user signs in.' })
  @FieldExtensions({ action: { name: 'username', wrapperKey: 'username', hiddenOnPages: true } })
  @RequiresFields(() => UserProfile, 'userId')
  async username(
    @Root() profile: RowFields<UserProfile, 'userId'>,
    @Ctx() context: Context,
  ): Promise<string> {
    return (await loadRowFields(User, ['username'], profile.userId, context))!.username;
  }
}
