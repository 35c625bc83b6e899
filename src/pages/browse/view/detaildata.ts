/** Additional data of detail pages: the training plan of a workout and the translations of an exercise. */
import type { GraphQLObjectType } from 'graphql';
import type { Row } from './cells';
import { detailPath } from './pageroutes';
import type { DetailField } from './viewmodel';

const ID_SELECTION = '{ id }';
const TRAINING_PLAN_SELECTION = `canonicalRepresentation {
  days { day { id name } weekdays { text } sets { set { id } exercises { summary exercise { id name } } } }
  muscles { front ${ID_SELECTION} back ${ID_SELECTION} frontSecondary ${ID_SELECTION} backSecondary ${ID_SELECTION} }
}`;
const TRANSLATIONS_SELECTION =
  'base: exerciseBase { translations { id name language { fullName } } }';

interface NamedRow {
  id: string | number;
  name: string;
}

export interface TrainingPlan {
  days: readonly {
    day: NamedRow;
    weekdays: { text: string };
    /** An exercise is null if the viewer may not see it. */
    sets: readonly {
      set: { id: string | number };
      exercises: readonly { summary: string; exercise: NamedRow | null }[];
    }[];
  }[];
  muscles: Readonly<
    Record<
      'front' | 'back' | 'frontSecondary' | 'backSecondary',
      readonly { id: string | number }[]
    >
  >;
}

interface ExerciseBase {
  translations: (NamedRow & { language: { fullName: string } })[];
}

export function detailSelection(type: GraphQLObjectType): string {
  const { canonicalRepresentation, exerciseBase } = type.getFields();
  return [
    canonicalRepresentation && TRAINING_PLAN_SELECTION,
    exerciseBase && TRANSLATIONS_SELECTION,
  ].join(' ');
}

export function trainingPlanOf({ canonicalRepresentation }: Row): TrainingPlan | undefined {
  const trainingPlan = canonicalRepresentation as TrainingPlan | undefined;
  return trainingPlan?.days.length ? trainingPlan : undefined;
}

/** Returns a field with links to the other translations of an exercise or, for an exercise image, to all translations of its exercise. */
export function translationLinksField(type: GraphQLObjectType, { base, id }: Row): DetailField {
  const isExercise = 'languageId' in type.getFields();
  const links = ((base as ExerciseBase | null | undefined)?.translations ?? [])
    .filter((translation) => !isExercise || String(translation.id) !== String(id))
    .map((translation) => ({
      label: `${translation.name} (${translation.language.fullName})`,
      id: String(translation.id),
      href: detailPath('exercise', translation.id),
    }));
  return { label: isExercise ? 'Translations' : 'Exercises', key: 'translations', cell: { links } };
}
