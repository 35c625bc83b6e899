/** Workouts, schedules and sessions. */
import { CURRENT, nodeIdOfWorkout, TODAY } from '../rich-account';
import { EXERCISE_CARD, LOG_ROW, PAGE_INFO, SETTING_ROW } from './fragments';
import type { Screen } from './screen';

export const training: Screen[] = [
  {
    name: "today's workout round by round, with a muscle figure",
    query: `query WorkoutPlayer($workout: ID!) {
      workout(id: $workout) {
        id name
        days {
          id name weekdays
          setGroups {
            id sets
            plannedSets {
              ...PlannedSetRow
              exercise {
                id name images { image isMain } translations { id comments { comment } }
                muscles { ...MuscleFigure } musclesSecondary { ...MuscleFigure }
              }
            }
            sequence { id reps targetWeight }
          }
        }
      }
    }
    fragment MuscleFigure on Muscle { id name isFront imageUrlMain imageUrlSecondary }
    ${SETTING_ROW}`,
    variables: { workout: CURRENT.workout },
  },
  {
    name: 'list of workouts',
    query: `query Workouts($first: Int!, $after: String) {
      workouts(first: $first, after: $after, orderBy: [{ createdOn: DESC }]) {
        totalCount
        edges {
          cursor
          node {
            __typename nodeId id name createdOn updatedAt
            days { id name weekdays }
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
        id name createdOn
        days {
          id name weekdays
          setGroups { id sets position plannedSets { ...PlannedSetRow exercise { ...ExerciseCard } } }
        }
        scheduleSteps { id position duration schedule { id name isActive } }
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
        id version name
        days {
          id version name weekdays
          setGroups { id version sets position plannedSets { ...PlannedSetRow exerciseId exercise { id name images { id image isMain } } } }
        }
      }
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
          id name createdOn
          days {
            id name weekdays
            setGroups { id sets plannedSets { ...PlannedSetRow exercise { id name } } }
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
        ... on Workout { id name version days { nodeId id name setGroups { nodeId id sets } } }
      }
    }`,
    variables: { nodeId: nodeIdOfWorkout(CURRENT.workout) },
  },
  {
    name: 'form that logs a session',
    query: `query LogSession($today: Date!, $workout: ID!) {
      current: workoutSessions(where: { date: { eq: $today } }) {
        nodes { id version notes impression startTime endTime logs(first: 100) { nodes { ...LogRow exerciseId } } }
      }
      previous: workoutSessions(first: 3, where: { workoutId: { eq: $workout }, date: { lt: $today } }, orderBy: [{ date: DESC }]) {
        nodes { id date logs(first: 100) { nodes { ...LogRow exercise { id name } } } }
      }
      workout(id: $workout) { id days { id name setGroups { id sets plannedSets { ...PlannedSetRow exercise { id name } } } } }
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
        id date notes impression startTime endTime
        workout { id name }
        logs(first: 100, orderBy: [{ id: ASC }]) { totalCount nodes { ...LogRow weightKg intensity oneRepMax exercise { ...ExerciseCard } } }
        byExercise: logsGrouped(groupBy: [{ field: EXERCISE }]) {
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
            __typename nodeId id date impression notes startTime endTime
            workout { nodeId id name }
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
        nodes { id date impression startTime endTime workout { id name } logs { totalCount } }
        pageInfo { ...PageInfoFields }
      }
    }
    ${PAGE_INFO}`,
    variables: { first: 25, offset: 50 },
  },
  {
    name: 'schedules with their steps',
    query: `query Schedules {
      schedules(first: 50, orderBy: [{ startsOn: DESC }]) {
        totalCount
        nodes { id version name startsOn isActive isLoop steps { id version position duration workout { id name } } }
      }
      workouts(first: 100, orderBy: [{ createdOn: DESC }]) { nodes { id name createdOn } }
    }`,
  },
  {
    name: 'active schedule with adherence',
    query: `query Schedule($id: ID!) {
      schedule(id: $id) {
        id name startsOn isActive isLoop
        steps { id position duration workout { id name days { id name weekdays setGroups { id sets } } } }
      }
      scheduleAdherence(last: 52) { start plannedDays doneDays plannedSets doneSets adherence workout { id name } }
      neglected: plannedExercises(last: 8, neglected: true) { plannedSets lastDoneOn exercise { ...ExerciseCard } }
    }
    ${EXERCISE_CARD}`,
    variables: { id: CURRENT.schedule },
  },
];
