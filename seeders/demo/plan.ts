/**
 * One line of a set: the exercise, the values at the start of the 8 weeks and the weekly increase.
 */
export interface PlannedSetting {
  exercise: string;
  reps: number;

  /** null: body weight only, or an exercise measured in seconds. */
  weight: number | null;
  perWeek?: number;
  rir?: string;
  seconds?: boolean;
  untilFailure?: boolean;
  comment?: string;
}

/** Several settings of different exercises are a superset, several of one exercise a pyramid. */
export type PlannedSet = [sets: number, ...settings: PlannedSetting[]];

export interface PlannedDay {
  description: string;
  weekdays: number[];
  sets: PlannedSet[];
}

export interface PlannedWorkout {
  comment: string;
  weeks: number;
  days: PlannedDay[];
}

const fullBody: PlannedWorkout = {
  comment: 'Full body, three times a week',
  weeks: 8,
  days: [
    {
      description: 'Full body A',
      weekdays: [1, 5],
      sets: [
        [
          4,
          {
            exercise: 'Back Squat',
            reps: 6,
            weight: 70,
            perWeek: 2.5,
            rir: '2',
            comment: 'Two lighter sets first',
          },
        ],
        [4, { exercise: 'Bench Press', reps: 6, weight: 60, perWeek: 1.25, rir: '2' }],
        [3, { exercise: 'One-Arm Dumbbell Row', reps: 10, weight: 24, perWeek: 0.5, rir: '1' }],
        [
          3,
          { exercise: 'Dumbbell Lateral Raise', reps: 15, weight: 8 },
          { exercise: 'Triceps Pushdown', reps: 12, weight: 22.5, perWeek: 0.5 },
        ],
        [3, { exercise: 'Plank', reps: 45, weight: null, seconds: true }],
      ],
    },
    {
      description: 'Full body B',
      weekdays: [3],
      sets: [
        [
          3,
          {
            exercise: 'Deadlift',
            reps: 5,
            weight: 90,
            perWeek: 2.5,
            rir: '2',
            comment: 'Straps only for the last set',
          },
        ],
        [3, { exercise: 'Overhead Press', reps: 8, weight: 35, perWeek: 0.75, rir: '1.5' }],
        [3, { exercise: 'Lat Pulldown', reps: 10, weight: 50, perWeek: 1.25, rir: '1' }],
        [3, { exercise: 'Walking Lunge', reps: 12, weight: 14, perWeek: 0.5 }],
        [
          3,
          { exercise: 'Dumbbell Curl', reps: 12, weight: 10, perWeek: 0.25 },
          { exercise: 'Skull Crusher', reps: 12, weight: 20, perWeek: 0.5 },
        ],
      ],
    },
  ],
};

const upperLower: PlannedWorkout = {
  comment: 'Upper and lower body, four times a week',
  weeks: 8,
  days: [
    {
      description: 'Upper body',
      weekdays: [1, 4],
      sets: [
        [
          3,
          { exercise: 'Bench Press', reps: 8, weight: 65, perWeek: 1.25, rir: '2' },
          { exercise: 'Bench Press', reps: 6, weight: 70, perWeek: 1.25, rir: '1' },
          {
            exercise: 'Bench Press',
            reps: 4,
            weight: 75,
            perWeek: 1.25,
            rir: '0.5',
            comment: 'With safety pins',
          },
        ],
        [4, { exercise: 'Bent-Over Barbell Row', reps: 8, weight: 55, perWeek: 1.25, rir: '2' }],
        [3, { exercise: 'Pull-Up', reps: 6, weight: null, untilFailure: true }],
        [3, { exercise: 'Seated Dumbbell Press', reps: 10, weight: 18, perWeek: 0.5, rir: '1' }],
        [
          3,
          { exercise: 'Hammer Curl', reps: 12, weight: 12, perWeek: 0.25 },
          { exercise: 'Rope Pushdown', reps: 12, weight: 20, perWeek: 0.75 },
        ],
        [2, { exercise: 'Face Pull', reps: 15, weight: 17.5, perWeek: 0.5 }],
      ],
    },
    {
      description: 'Lower body',
      weekdays: [2, 6],
      sets: [
        [4, { exercise: 'Front Squat', reps: 6, weight: 65, perWeek: 1.75, rir: '2' }],
        [3, { exercise: 'Romanian Deadlift', reps: 8, weight: 80, perWeek: 2.5, rir: '2' }],
        [3, { exercise: 'Bulgarian Split Squat', reps: 10, weight: 14, perWeek: 0.5, rir: '1' }],
        [
          3,
          { exercise: 'Lying Leg Curl', reps: 12, weight: 35, perWeek: 0.75 },
          { exercise: 'Standing Calf Raise', reps: 15, weight: 60, perWeek: 2.5 },
        ],
        [3, { exercise: 'Hanging Leg Raise', reps: 10, weight: null }],
      ],
    },
  ],
};

export const WORKOUTS: PlannedWorkout[] = [fullBody, upperLower];
