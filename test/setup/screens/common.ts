/**
 * Ten screens that most clients have, with all requests of each in order. `docs/graphql.md` shows
 * their costs, which `common-screens.test.ts` compares with the server.
 */
import { BENCH, CURRENT, daysAgo, TODAY } from '../rich-account';
import { ENTRY, EXERCISE_CARD, LOG_ROW, NUTRIENTS, PAGE_INFO, SETTING_ROW } from './fragments';
import { CURSOR, type Screen } from './screen';

const ENGLISH = '2';
const YESTERDAY = daysAgo(1);

/** A day without a session. */
const REST_DAY = daysAgo(2);

export interface NamedScreen {
  name: string;
  requests: readonly Screen[];
}

export const ten: readonly NamedScreen[] = [
  {
    name: "Today's workout",
    requests: [
      {
        name: "today's workout with last logged weights",
        query: `query TodaysWorkout($today: Date!) {
          plannedTraining(from: $today, until: $today) {
            date
            step { id position workout { id name } }
            trainingDays {
              id name
              setGroups {
                id sets position
                plannedSets {
                  ...PlannedSetRow
                  exercise {
                    ...ExerciseCard
                    translations { id name description language { id shortName } comments { id comment } }
                    last: logs(first: 5, where: { date: { lt: $today } }, orderBy: [{ date: DESC }, { id: DESC }]) { nodes { ...LogRow } }
                  }
                }
              }
            }
            sessions { id version notes impression startTime endTime logs(first: 100) { nodes { ...LogRow exerciseId } } }
          }
        }
        ${SETTING_ROW} ${EXERCISE_CARD} ${LOG_ROW}`,
        variables: { today: TODAY },
      },
    ],
  },
  {
    name: 'Log a set',
    requests: [
      {
        name: 'set of an exercise, with the session of the day if there is none',
        query: `mutation LogSet($session: WorkoutSessionInput!, $isFirst: Boolean!, $set: WorkoutLogInput!, $date: Date!) @atomic {
          createWorkoutSession(input: $session) @include(if: $isFirst) {
            workoutSession { id version date }
            errors { path code message conflict { ... on WorkoutSession { id version date workout { id name } } } }
          }
          createWorkoutLog(input: $set) {
            workoutLog {
              ...LogRow
              version oneRepMax
              session { id }
              exercise { id name personalRecords(from: $date, until: $date) { kind value previous logId } }
            }
            errors { path code message }
          }
        }
        ${LOG_ROW}`,
        variables: {
          date: REST_DAY,
          isFirst: true,
          session: { date: REST_DAY, workoutId: CURRENT.workout, startTime: '18:00' },
          set: {
            date: REST_DAY,
            workoutId: CURRENT.workout,
            exerciseId: BENCH,
            reps: 3,
            weight: '150',
          },
        },
      },
    ],
  },
  {
    name: 'History and records',
    requests: [
      {
        name: 'history of one exercise with records and one-rep maxes',
        query: `query ExerciseHistory($exercise: ID!, $since: Date!, $today: Date!) {
          exercise(id: $exercise) {
            id name
            logs(first: 200, where: { date: { gte: $since } }, orderBy: [{ date: DESC }, { id: ASC }]) {
              totalCount
              nodes { ...LogRow weightKg oneRepMax intensity session { id date notes } }
              pageInfo { ...PageInfoFields }
            }
            byDay: logsGrouped(first: 200, groupBy: [{ date: { by: DAY } }]) {
              keys { dateBucket { start } } count sum { reps } max { weightKg reps }
            }
            bestOneRepMaxes(from: $since, until: $today) { date oneRepMax log { id reps weight } }
            trainingVolume(from: $since, until: $today) { bucket { start end } sets hardSets reps tonnage }
            personalRecords(last: 100) { date kind value previous reps weight }
          }
        }
        ${LOG_ROW} ${PAGE_INFO}`,
        variables: { exercise: BENCH, since: daysAgo(365), today: TODAY },
      },
    ],
  },
  {
    name: 'Weight with trend',
    requests: [
      {
        name: 'body weight with its trend',
        query: `query WeightTrend($since: Date!, $until: Date!) {
          weightEntries(first: 30, where: { date: { gte: $since } }, orderBy: [{ date: DESC }]) { nodes { id version date weight unit } }
          bodyWeightTrend(from: $since, until: $until, days: 28) { date weight trend ratePerWeek }
          viewer { id profile { id unitSystem } }
        }`,
        variables: { since: daysAgo(364), until: TODAY },
      },
    ],
  },
  {
    name: 'Nutrition day',
    requests: [
      {
        name: 'diary of a day',
        query: `query NutritionDay($date: Date!, $timeZone: String!, $from: DateTime!, $to: DateTime!) {
          nutritionIntake(from: $date, until: $date, timeZone: $timeZone) {
            planId
            total { ...Nutrients energyKilojoule }
            goal { ...Nutrients }
            goalEnergy
          }
          nutritionPlans(first: 1, where: { isActive: { eq: true } }) {
            nodes {
              id name
              nutritionalValues { total { ...Nutrients } }
              meals { id position time items { id amount ingredient { id name } ingredientUnit { id householdUnit { id name } } nutritionalValues { energy } } }
            }
          }
          diaryEntries(first: 100, where: { eatenAt: { gte: $from, lte: $to } }, orderBy: [{ eatenAt: ASC }]) {
            totalCount
            nodes { ...Entry }
          }
        }
        ${ENTRY} ${NUTRIENTS}`,
        variables: {
          date: YESTERDAY,
          timeZone: 'UTC',
          from: `${YESTERDAY}T00:00:00Z`,
          to: `${YESTERDAY}T23:59:59Z`,
        },
      },
    ],
  },
  {
    name: 'Find a food, log it',
    requests: [
      {
        name: 'ingredient search as the user types or scans',
        query: `query FindFood($text: String!, $isBarcode: Boolean!, $language: ID!) {
          ingredients(first: 10, where: { name: { search: $text }, languageId: { eq: $language } }) @skip(if: $isBarcode) {
            nodes { ...Food }
          }
          scanned: ingredientByBarcode(code: $text) @include(if: $isBarcode) { ...Food }
          often: topFoods(first: 10, by: COUNT) { count ingredient { id name } }
          nutritionPlans(first: 1, where: { isActive: { eq: true } }) { nodes { id name meals { id time } } }
        }
        fragment Food on Ingredient { id name energy protein carbohydrates fat units { id grams amount householdUnit { id name } } }`,
        variables: { text: 'oat', isBarcode: false, language: ENGLISH },
      },
      {
        name: 'food that is eaten now',
        query: `mutation LogFood($entry: DiaryEntryInput!) {
          createDiaryEntry(input: $entry) { diaryEntry { ...Entry } errors { path code message } }
        }
        ${ENTRY} ${NUTRIENTS}`,
      },
    ],
  },
  {
    name: 'Edit a plan',
    requests: [
      {
        name: 'form that edits a nutrition plan',
        query: `query EditPlan($plan: ID!) {
          nutritionPlan(id: $plan) {
            id version name hasGoalCalories
            meals {
              id version position time
              items {
                id version position amount ingredientUnitId
                ingredient { id name energy protein carbohydrates fat units { id amount grams householdUnit { id name } } }
              }
            }
          }
          householdUnits(first: 100) { nodes { id name } }
        }`,
        variables: { plan: CURRENT.plan },
      },
      {
        name: 'nutrition plan as it was edited',
        query: `mutation SavePlan($plan: ID!, $version: String!, $input: NutritionPlanPatch!) {
          updateNutritionPlan(id: $plan, ifVersion: $version, input: $input) {
            nutritionPlan { ...SavedPlan }
            errors { path code message conflict { ...SavedPlan } }
          }
        }
        fragment SavedPlan on NutritionPlan {
          id version name
          meals { id version position time items { id version position amount ingredientId ingredientUnitId } }
        }`,
      },
    ],
  },
  {
    name: 'Calendar',
    requests: [
      {
        name: 'training calendar of a month',
        query: `query Calendar($from: Date!, $to: Date!) {
          plannedTraining(from: $from, until: $to) {
            date
            step { id position duration workout { id name } }
            trainingDays { id name }
            sessions { id date impression workout { id name } }
          }
          logsByDay: workoutLogsGrouped(
            first: 31
            where: { date: { gte: $from, lte: $to } }
            groupBy: [{ date: { by: DAY } }]
          ) { keys { dateBucket { start } } count countDistinct(of: EXERCISE) sum { reps } }
        }`,
        variables: { from: daysAgo(30), to: TODAY },
      },
    ],
  },
  {
    name: 'Profile and units',
    requests: [
      {
        name: 'name and units as they were changed',
        query: `mutation SaveProfile($user: UserPatch!, $profile: UserProfilePatch!) @atomic {
          updateUser(input: $user) { user { id version username email firstName lastName } errors { path code message } }
          updateProfile(input: $profile) {
            userProfile { id version unitSystem age birthdate gender height calories }
            errors { path code message }
          }
        }`,
        variables: {
          user: { firstName: 'Ann', lastName: 'Example' },
          profile: { unitSystem: 'IMPERIAL' },
        },
      },
    ],
  },
  {
    name: 'Offline',
    requests: [
      {
        name: 'cursor before an offline copy',
        query: 'query Cursor { changes { cursor hasMore } }',
      },
      {
        name: 'offline copy of own rows',
        query: `query OwnRows($first: Int!) {
          workouts(first: $first) { nodes { id version name createdOn } pageInfo { ...PageInfoFields } }
          trainingDays(first: $first) { nodes { id version workoutId name weekdays } pageInfo { ...PageInfoFields } }
          setGroups(first: $first) { nodes { id version trainingDayId sets position } pageInfo { ...PageInfoFields } }
          plannedSets(first: $first) {
            nodes { id version setGroupId exerciseId reps repetitionUnitId targetWeight weightUnitId rir position notes }
            pageInfo { ...PageInfoFields }
          }
          schedules(first: $first) { nodes { id version name startsOn isActive isLoop } pageInfo { ...PageInfoFields } }
          scheduleSteps(first: $first) { nodes { id version scheduleId workoutId duration position } pageInfo { ...PageInfoFields } }
          workoutSessions(first: $first) {
            nodes { id version workoutId date notes impression startTime endTime }
            pageInfo { ...PageInfoFields }
          }
          workoutLogs(first: $first) {
            nodes { id version workoutId exerciseId date reps repetitionUnitId weight weightUnitId rir }
            pageInfo { ...PageInfoFields }
          }
          weightEntries(first: $first) { nodes { id version date weight unit } pageInfo { ...PageInfoFields } }
          nutritionPlans(first: $first) { nodes { id version name createdOn isActive hasGoalCalories languageId } pageInfo { ...PageInfoFields } }
          meals(first: $first) { nodes { id version planId position time } pageInfo { ...PageInfoFields } }
          mealItems(first: $first) { nodes { id version mealId ingredientId ingredientUnitId amount position } pageInfo { ...PageInfoFields } }
          diaryEntries(first: $first, orderBy: [{ eatenAt: DESC }]) {
            nodes { id version planId mealId ingredientId ingredientUnitId eatenAt amount notes }
            pageInfo { ...PageInfoFields }
          }
        }
        ${PAGE_INFO}`,
        variables: { first: 1000 },
      },
      {
        name: 'change feed with the rows themselves',
        query: `query ChangedNodes($since: String!, $first: Int!, $types: [RowType!]) {
          changes(since: $since, first: $first, types: $types) {
            cursor hasMore
            changes {
              type rowId operation occurredAt
              node {
                __typename nodeId
                ... on WorkoutLog { id version date reps weight rir exerciseId workoutId }
                ... on WorkoutSession { id version date notes impression workoutId }
                ... on WeightEntry { id version date weight unit }
                ... on DiaryEntry { id version eatenAt amount ingredientId ingredientUnitId planId mealId }
              }
            }
          }
        }`,
        variables: {
          since: CURSOR,
          first: 100,
          types: ['WORKOUT_SESSION', 'WORKOUT_LOG', 'WEIGHT_ENTRY', 'DIARY_ENTRY'],
        },
      },
    ],
  },
];
