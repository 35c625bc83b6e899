/** Training plan of a workout: its days, sets and exercises, with a figure of the trained muscles. */
import type { HtmlView, TrainingPlan as Plan } from './view/viewmodel';

export function BodyFigure({
  mainMuscleIds,
  secondaryMuscleIds,
  alt,
}: Pick<Plan, 'mainMuscleIds' | 'secondaryMuscleIds'> & { alt: string }) {
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

function Day({ day: { link, weekdays, sets } }: { day: Plan['days'][number] }) {
  return (
    <section class="day">
      <h3>
        <a href={link.href}>{link.label}</a> <span class="count">{weekdays}</span>
      </h3>
      <ol>
        {sets.map(({ link: set, exercises }) => (
          <li key={set.id}>
            {exercises.length === 0 && <a href={set.href}>{set.label}</a>}
            {exercises.map(({ link: exercise, text }) => (
              <div key={exercise.id}>
                <a href={exercise.href}>{exercise.label}</a> <a href={set.href}>{text}</a>
              </div>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}

export function TrainingPlanSection({ view: { detailRow, kind } }: { view: HtmlView }) {
  const plan = kind === 'detail' ? detailRow?.trainingPlan : undefined;
  if (!plan) return null;
  return (
    <section class="plan">
      <h2 class="whole">Training plan</h2>
      {plan.mainMuscleIds.length > 0 && <BodyFigure {...plan} alt="Muscles trained by the plan" />}
      {plan.days.map((day) => (
        <Day key={day.link.id} day={day} />
      ))}
    </section>
  );
}
