/** Additional data of detail pages: the training plan of a workout and the translations of an exercise. */
import type { GraphQLObjectType } from 'graphql';
import type { Row } from './cells';
import { detailPath } from './pageroutes';
import type { DetailField, RowLink, TrainingPlan } from './viewmodel';

const ID_SELECTION = '{ id }';
const TRAINING_PLAN_SELECTION = `canonicalRepresentation {
  days { day { id name } weekdays { text } sets { set { id } exercises { summary exercise { id name } } } }
  muscles { front ${ID_SELECTION} back ${ID_SELECTION} frontSecondary ${ID_SELECTION} backSecondary ${ID_SELECTION} }
}`;
const TRANSLATIONS_SELECTION = 'base: exerciseBase { translations { id name language { fullName } } }';

interface NamedRow {
  id: string | number;
  name: string;
}

interface CanonicalPlanData {
  days: {
    day: { id: string | number; name: string };
    weekdays: { text: string };
    sets: { set: { id: string | number }; exercises: { summary: string; exercise: NamedRow | null }[] }[];
  }[];
  muscles: Record<'front' | 'back' | 'frontSecondary' | 'backSecondary', { id: string | number }[]>;
}

interface ExerciseBase {
  translations: (NamedRow & { language: { fullName: string } })[];
}

const hasTrainingPlan = (type: GraphQLObjectType) => 'canonicalRepresentation' in type.getFields();
const hasExerciseBase = (type: GraphQLObjectType) => 'exerciseBase' in type.getFields();

export const detailSelection = (type: GraphQLObjectType): string =>
  [hasTrainingPlan(type) ? TRAINING_PLAN_SELECTION : '', hasExerciseBase(type) ? TRANSLATIONS_SELECTION : ''].join(' ');

const linkTo = (endpoint: string, id: string | number, label: string): RowLink => ({
  label,
  id: String(id),
  href: detailPath(endpoint, id),
});

export function trainingPlanOf({ canonicalRepresentation }: Row): TrainingPlan | undefined {
  const trainingPlan = canonicalRepresentation as CanonicalPlanData | undefined;
  if (!trainingPlan?.days.length) return undefined;
  const { front, back, frontSecondary, backSecondary } = trainingPlan.muscles;
  const ids = (...muscles: { id: string | number }[]) => muscles.map(({ id }) => String(id));
  return {
    days: trainingPlan.days.map(({ day, weekdays, sets }) => ({
      link: linkTo('day', day.id, day.name),
      weekdays: weekdays.text,
      sets: sets.map(({ set, exercises }) => ({
        link: linkTo('set', set.id, `Set ${set.id}`),
        exercises: exercises.flatMap(({ summary, exercise }) =>
          exercise ? [{ link: linkTo('exercise', exercise.id, exercise.name), text: summary }] : [],
        ),
      })),
    })),
    mainMuscleIds: ids(...front, ...back),
    secondaryMuscleIds: ids(...frontSecondary, ...backSecondary),
  };
}

/** Returns a field with links to the other translations of an exercise or, for an exercise image, to all translations of its exercise. */
export function translationLinksField(type: GraphQLObjectType, { base, id }: Row): DetailField {
  const isExercise = 'languageId' in type.getFields();
  const links = ((base as ExerciseBase | null | undefined)?.translations ?? [])
    .filter((translation) => !isExercise || String(translation.id) !== String(id))
    .map((translation) => linkTo('exercise', translation.id, `${translation.name} (${translation.language.fullName})`));
  return { label: isExercise ? 'Translations' : 'Exercises', key: 'translations', cell: { links } };
}
