/** What people want to see of some rows beside their fields: a workout as it is trained, an exercise in other languages. */
import type { GraphQLObjectType } from 'graphql';
import { BASE } from '../../../rest/routes';
import type { Row } from './cells';
import type { Fact, RowLink, Training } from './view';

const IDS = '{ id }';
const PLAN = `canonicalRepresentation {
  days { day { id name } weekdays { text } sets { set { id } exercises { summary exercise { id name } } } }
  muscles { front ${IDS} back ${IDS} frontSecondary ${IDS} backSecondary ${IDS} }
}`;
const TRANSLATIONS = 'base: exerciseBase { translations { id name language { fullName } } }';

interface Named {
  id: string | number;
  name: string;
}

interface Plan {
  days: {
    day: { id: string | number; name: string };
    weekdays: { text: string };
    sets: { set: { id: string | number }; exercises: { summary: string; exercise: Named | null }[] }[];
  }[];
  muscles: Record<'front' | 'back' | 'frontSecondary' | 'backSecondary', { id: string | number }[]>;
}

interface Base {
  translations: (Named & { language: { fullName: string } })[];
}

const hasPlan = (type: GraphQLObjectType) => 'canonicalRepresentation' in type.getFields();
const hasBase = (type: GraphQLObjectType) => 'exerciseBase' in type.getFields();

export const furtherSelection = (type: GraphQLObjectType): string =>
  [hasPlan(type) ? PLAN : '', hasBase(type) ? TRANSLATIONS : ''].join(' ');

const link = (endpoint: string, id: string | number, label: string): RowLink => ({
  label,
  id: String(id),
  href: `${BASE}/${endpoint}/${id}/`,
});

export function trainingOf({ canonicalRepresentation }: Row): Training | undefined {
  const plan = canonicalRepresentation as Plan | undefined;
  if (!plan?.days.length) return undefined;
  const { front, back, frontSecondary, backSecondary } = plan.muscles;
  const ids = (...muscles: { id: string | number }[]) => muscles.map(({ id }) => String(id));
  return {
    days: plan.days.map(({ day, weekdays, sets }) => ({
      link: link('day', day.id, day.name),
      weekdays: weekdays.text,
      sets: sets.map(({ set, exercises }) => ({
        link: link('set', set.id, `Set ${set.id}`),
        exercises: exercises.flatMap(({ summary, exercise }) =>
          exercise ? [{ link: link('exercise', exercise.id, exercise.name), text: summary }] : [],
        ),
      })),
    })),
    main: ids(...front, ...back),
    secondary: ids(...frontSecondary, ...backSecondary),
  };
}

/** The same exercise in other languages; of its image the exercise in all of them. */
export function translationsOf(type: GraphQLObjectType, { base, id }: Row): Fact {
  const isOne = 'languageId' in type.getFields();
  const links = ((base as Base | null | undefined)?.translations ?? [])
    .filter((one) => !isOne || String(one.id) !== String(id))
    .map((one) => link('exercise', one.id, `${one.name} (${one.language.fullName})`));
  return { label: isOne ? 'Translations' : 'Exercises', key: 'translations', cell: { links } };
}
