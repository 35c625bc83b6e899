/** Shows the days, sets and exercises of a workout with a figure of the trained muscles. */
import type { TrainingPlan } from './view/view-model';
import { detailPath } from './view/page-routes';
import type { HtmlView } from './view/view-model';

interface BodyFigureProps {
  mainMuscleIds: readonly (string | number)[];
  secondaryMuscleIds: readonly (string | number)[];
  alt: string;
}

export function BodyFigure({ mainMuscleIds, secondaryMuscleIds, alt }: BodyFigureProps) {
  return (
    <img
      class="figure"
      src={`/static/images/muscles/body.svg?main=${mainMuscleIds.join(',')}&secondary=${secondaryMuscleIds.join(',')}`}
      alt={alt}
      width={200}
      height={200}
    />
  );
}

function TrainingDay({ day: { day, weekdays, setGroups } }: { day: TrainingPlan['days'][number] }) {
  return (
    <section class="day">
      <h3>
        <a href={detailPath('day', day.id)}>{day.name || `Day ${day.id}`}</a>{' '}
        <span class="count">{weekdays.text}</span>
      </h3>
      <ol>
        {setGroups.map(({ setGroup, exercises }) => (
          <li key={setGroup.id}>
            {exercises.every(({ exercise }) => !exercise) && (
              <a href={detailPath('set', setGroup.id)}>{`Set ${setGroup.id}`}</a>
            )}
            {exercises.map(
              ({ exercise, summary }) =>
                exercise && (
                  <div key={exercise.id}>
                    <a href={detailPath('exercise', exercise.id)}>{exercise.name}</a>{' '}
                    <a href={detailPath('set', setGroup.id)}>{summary}</a>
                  </div>
                ),
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

export function TrainingPlanSection({ view: { detailRow, kind } }: { view: HtmlView }) {
  const plan = kind === 'detail' ? detailRow?.trainingPlan : undefined;

  if (!plan) return null;
  const { front, back, frontSecondary, backSecondary } = plan.muscles;
  const mainMuscleIds = [...front, ...back].map(({ id }) => id);
  const secondaryMuscleIds = [...frontSecondary, ...backSecondary].map(({ id }) => id);

  return (
    <section class="plan">
      <h2 class="whole">Training plan</h2>
      {mainMuscleIds.length > 0 && (
        <BodyFigure
          mainMuscleIds={mainMuscleIds}
          secondaryMuscleIds={secondaryMuscleIds}
          alt="Muscles trained by the plan"
        />
      )}
      {plan.days.map((day) => (
        <TrainingDay key={day.day.id} day={day} />
      ))}
    </section>
  );
}
