/** History, records and charts. */
import { BENCH, daysAgo, DEADLIFT, SQUAT, TODAY } from '../rich-account';
import type { Screen } from './screen';

export const progress: Screen[] = [
  {
    name: 'one-rep maxes of three lifts side by side',
    query: `query Lifts($squat: ID!, $bench: ID!, $deadlift: ID!) {
      squat: bestOneRepMaxes(by: WEEK, where: { exerciseId: { eq: $squat } }) { ...Curve }
      bench: bestOneRepMaxes(by: WEEK, where: { exerciseId: { eq: $bench } }) { ...Curve }
      deadlift: bestOneRepMaxes(by: WEEK, where: { exerciseId: { eq: $deadlift } }) { ...Curve }
    }
    fragment Curve on BestOneRepMax { bucket { start end } date oneRepMax }`,
    variables: { squat: SQUAT, bench: BENCH, deadlift: DEADLIFT },
  },
  {
    name: 'standing personal records',
    query: `query Records {
      personalRecords(last: 100, standing: true) {
        date kind value previous reps weight
        exercise { id name images { id image isMain } }
        log { id date reps weight }
      }
      strength { date total bodyWeight dots }
      pounds: strength(unit: LB) { total bodyWeight }
    }`,
  },
  {
    name: 'weekly volume by muscle',
    query: `query MuscleVolume($since: Date!) {
      muscleVolume(from: $since, by: WEEK) {
        bucket { start end }
        sets hardSets tonnage
        muscle { id name isFront imageUrlMain }
      }
    }`,
    variables: { since: daysAgo(84) },
  },
  {
    name: 'training volume of two quarters side by side',
    query: `query Volume($from: Date!, $middle: Date!, $to: Date!) {
      before: trainingVolume(from: $from, until: $middle, by: WEEK) { ...Bars }
      now: trainingVolume(from: $middle, until: $to, by: WEEK) { ...Bars }
    }
    fragment Bars on TrainingVolume { bucket { start end } days sets hardSets reps tonnage }`,
    variables: { from: daysAgo(140), middle: daysAgo(70), to: TODAY },
  },
  {
    name: 'training load, weeks and streak',
    query: `query Load {
      trainingLoad(last: 365) { date load acute chronic ratio }
      hardSets: trainingLoad(last: 365, measure: HARD_SETS) { date load acute chronic }
      trainingWeeks(last: 104, goal: 3) { bucket { start end } sessions streak }
    }`,
  },
  {
    name: 'sets of each muscle by week, as a heat map',
    query: `query HeatMap($since: Date!) {
      workoutLogsGrouped(
        first: 500
        where: { date: { gte: $since } }
        groupBy: [{ date: { by: WEEK } }, { muscle: { muscles: 1, musclesSecondary: 0.5 } }]
        orderBy: [{ key: { number: 1 } }, { statistic: { name: WEIGHTED_COUNT, direction: DESC } }]
      ) {
        keys { dateBucket { start end } muscle { id name isFront } } weightedCount sum { reps } max { weightKg }
      }
    }`,
    variables: { since: daysAgo(84) },
  },
  {
    name: 'charts of repetitions, reserve, weekdays and exercises',
    query: `query TrainingCharts($since: Date!) {
      repetitions: workoutLogsGrouped(where: { date: { gte: $since } }, groupBy: [{ reps: { width: 5, empty: true } }]) {
        keys { repsBin { from to } } count
      }
      reserve: workoutLogsGrouped(where: { date: { gte: $since } }, groupBy: [{ field: RIR }]) { keys { rir } count avg { reps } }
      weekdays: workoutSessionsGrouped(where: { date: { gte: $since } }, groupBy: [{ date: { by: WEEKDAY } }]) {
        keys { dateBucket { number } } count min { startTime } max { endTime }
      }
      impressions: workoutSessionsGrouped(where: { date: { gte: $since } }, groupBy: [{ field: IMPRESSION }]) {
        keys { impression } count
      }
      exercises: workoutLogsGrouped(
        first: 10
        where: { date: { gte: $since } }
        groupBy: [{ field: EXERCISE }]
        having: [{ statistic: COUNT, is: { gte: 3 } }]
        orderBy: [{ statistic: { name: SUM, of: REPS, direction: DESC } }]
      ) {
      keys { exercise { id name } } count sum { reps } median { weightKg } p90: percentile(p: 0.9) { weightKg } }
    }`,
    variables: { since: daysAgo(365) },
  },
  {
    name: 'body weight of a year',
    query: `query BodyWeight($since: Date!) {
      weightEntries(first: 366, where: { date: { gte: $since } }, orderBy: [{ date: ASC }]) {
        totalCount
        nodes { __typename id version date weight weightKg }
      }
      weightEntriesGrouped(where: { date: { gte: $since } }) {
        count avg { weight } median { weight } min { weight date } max { weight date }
      }
      viewer { id profile { id height unitSystem } }
    }`,
    variables: { since: daysAgo(365) },
  },
];
