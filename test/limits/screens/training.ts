/** Workouts, schedules and sessions. */
import { weekday } from '../../../seeders/dates';
import { CURRENT, daysAgo, nodeIdOfWorkout, TODAY } from '../account';
import { EXERCISE_CARD, LOG_ROW, PAGE_INFO, SETTING_ROW } from './fragments';
import type { Screen } from './screen';

export const training: Screen[] = [
  {
    name: "today's workout with last logged weights",
    query: `query TodaysWorkout($workout: ID!, $weekday: [ID!]!) {
      trainingDays(first: 2, where: { workoutId: { eq: $workout }, weekdayIds: { in: $weekday } }) {
        nodes {
          __typename id nodeId description
          weekdays { __typename id dayOfWeek }
          workout { __typename id comment }
          workoutSets {
            __typename id sets position
            settings {
              __typename ...SettingRow
              exercise {
                __typename ...ExerciseCard
                description
                comments { __typename id comment }
                exerciseBase { __typename id translations { __typename id name description language { __typename id shortName } } }
                last: logs(first: 5, orderBy: [{ date: DESC }, { id: DESC }]) { nodes { __typename ...LogRow } }
              }
            }
          }
        }
      }
    }
    ${SETTING_ROW} ${EXERCISE_CARD} ${LOG_ROW}`,
    variables: { workout: CURRENT.workout, weekday: [weekday(TODAY)] },
  },
  {
    name: "today's workout round by round, with a muscle figure",
    query: `query WorkoutPlayer($workout: ID!) {
      workout(id: $workout) {
        id comment
        canonicalRepresentation {
          days {
            day { id description }
            weekdays { text }
            muscles { front { ...MuscleFigure } back { ...MuscleFigure } frontSecondary { ...MuscleFigure } backSecondary { ...MuscleFigure } }
            sets {
              isSuperset
              set { id sets }
              exercises { settingText hasWeight comments images { image isMain } exercise { id name } settings { ...SettingRow } }
              computedSettings { id reps targetWeight }
            }
          }
        }
      }
    }
    fragment MuscleFigure on Muscle { id name imageUrlMain imageUrlSecondary }
    ${SETTING_ROW}`,
    variables: { workout: CURRENT.workout },
  },
  {
    name: 'list of workouts',
    query: `query Workouts($first: Int!, $after: String) {
      workouts(first: $first, after: $after, orderBy: [{ creationDate: DESC }]) {
        totalCount
        edges {
          cursor
          node {
            __typename nodeId id comment creationDate updatedAt
            days { id description weekdays { id dayOfWeek } }
            logs { totalCount }
            sessions(first: 1, orderBy: [{ date: DESC }]) { totalCount nodes { id date } }
          }
        }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 20 },
  },
  {
    name: 'overview of a workout',
    query: `query Workout($id: ID!) {
      workout(id: $id) {
        id comment creationDate
        days {
          id description weekdays { id dayOfWeek }
          workoutSets { id sets position settings { ...SettingRow exercise { ...ExerciseCard } } }
        }
        scheduleSteps { id order duration schedule { id name isActive } }
        logs { totalCount }
        sessions(first: 10, orderBy: [{ date: DESC }]) {
          totalCount
          nodes { id date impression notes logs { totalCount } }
        }
      }
    }
    ${SETTING_ROW} ${EXERCISE_CARD}`,
    variables: { id: CURRENT.workout },
  },
  {
    name: 'form that edits a workout',
    query: `query EditWorkout($id: ID!) {
      workout(id: $id) {
        id version comment
        days {
          id version description weekdayIds
          workoutSets { id version sets position settings { ...SettingRow exerciseId exercise { id name images { id image isMain } } } }
        }
      }
      daysOfWeek { id dayOfWeek }
      repetitionUnits { id name }
      weightUnits { id name }
      exerciseCategories { id name }
    }
    ${SETTING_ROW}`,
    variables: { id: CURRENT.workout },
  },
  {
    name: 'all workouts with their contents, for printing',
    query: `query PrintWorkouts($first: Int!) {
      workouts(first: $first) {
        nodes {
          id comment creationDate
          days {
            id description weekdays { id dayOfWeek }
            workoutSets { id sets settings { ...SettingRow exercise { id name } } }
          }
        }
      }
    }
    ${SETTING_ROW}`,
    variables: { first: 50 },
  },
  {
    name: 'workout read again by its global id',
    query: `query RefetchWorkout($nodeId: ID!) {
      node(nodeId: $nodeId) {
        __typename nodeId
        ... on Workout { id comment version days { nodeId id description workoutSets { nodeId id sets } } }
      }
    }`,
    variables: { nodeId: nodeIdOfWorkout(CURRENT.workout) },
  },
  {
    name: 'form that logs a session',
    query: `query LogSession($today: Date!, $workout: ID!) {
      current: workoutSessions(where: { date: { eq: $today } }) {
        nodes { id version notes impression timeStart timeEnd logs(first: 100) { nodes { ...LogRow exerciseId } } }
      }
      previous: workoutSessions(first: 3, where: { workoutId: { eq: $workout }, date: { lt: $today } }, orderBy: [{ date: DESC }]) {
        nodes { id date logs(first: 100) { nodes { ...LogRow exercise { id name } } } }
      }
      workout(id: $workout) { id days { id description workoutSets { id sets settings { ...SettingRow exercise { id name } } } } }
      repetitionUnits { id name }
      weightUnits { id name }
    }
    ${LOG_ROW} ${SETTING_ROW}`,
    variables: { today: TODAY, workout: CURRENT.workout },
  },
  {
    name: 'one session',
    query: `query Session($id: ID!) {
      workoutSession(id: $id) {
        id date notes impression timeStart timeEnd
        workout { id comment }
        logs(first: 100, orderBy: [{ id: ASC }]) { totalCount nodes { ...LogRow weightKg intensity oneRepMax exercise { ...ExerciseCard } } }
        byExercise: logsGrouped(groupBy: [{ field: exercise }]) {
          keys { exercise { id name } } count sum { reps } max { weightKg }
        }
      }
    }
    ${LOG_ROW} ${EXERCISE_CARD}`,
    variables: { id: CURRENT.session },
  },
  {
    name: 'sessions, first page',
    query: `query Sessions($first: Int!, $after: String) {
      workoutSessions(first: $first, after: $after, orderBy: [{ date: DESC }]) {
        totalCount
        edges {
          cursor
          node {
            __typename nodeId id date impression notes timeStart timeEnd
            workout { nodeId id comment }
            logs(first: 50) { totalCount nodes { nodeId ...LogRow exercise { nodeId id name } } }
          }
        }
        pageInfo { ...PageInfoFields }
      }
    }
    ${LOG_ROW} ${PAGE_INFO}`,
    variables: { first: 20 },
  },
  {
    name: 'sessions, a later page',
    query: `query SessionsTable($first: Int!, $offset: Int!) {
      workoutSessions(first: $first, offset: $offset, orderBy: [{ date: DESC }]) {
        totalCount
        nodes { id date impression timeStart timeEnd workout { id comment } logs { totalCount } }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 25, offset: 50 },
  },
  {
    name: 'training calendar of a month',
    query: `query Calendar($from: Date!, $to: Date!) {
      workoutSessions(first: 31, where: { date: { gte: $from, lte: $to } }) {
        nodes { id date impression workout { id comment } }
      }
      logsByDay: workoutLogsGrouped(
        first: 31
        where: { date: { gte: $from, lte: $to } }
        groupBy: [{ date: { by: DAY } }]
      ) { keys { dateBucket { start } } count countDistinct(of: exercise) sum { reps } }
      schedules(first: 1, where: { isActive: { eq: true } }) {
        nodes {
          id name startDate isLoop
          steps { id order duration workout { id comment days { id description weekdays { id dayOfWeek } } } }
        }
      }
    }`,
    variables: { from: daysAgo(30), to: TODAY },
  },
  {
    name: 'schedules with their steps',
    query: `query Schedules {
      schedules(first: 50, orderBy: [{ startDate: DESC }]) {
        totalCount
        nodes { id version name startDate isActive isLoop steps { id version order duration workout { id comment } } }
      }
      workouts(first: 100, orderBy: [{ creationDate: DESC }]) { nodes { id comment creationDate } }
    }`,
  },
  {
    name: 'active schedule with adherence',
    query: `query Schedule($id: ID!) {
      schedule(id: $id) {
        id name startDate isActive isLoop
        steps { id order duration workout { id comment days { id description weekdays { id dayOfWeek } workoutSets { id sets } } } }
      }
      scheduleAdherence(first: 52) {
        totalCount
        nodes { start plannedDays doneDays plannedSets doneSets adherence workout { id comment } }
      }
      neglected: plannedExercises(first: 50, weeks: 8, neglected: true) {
        totalCount
        nodes { plannedSets lastDone exercise { ...ExerciseCard } }
      }
    }
    ${EXERCISE_CARD}`,
    variables: { id: CURRENT.schedule },
  },
];
