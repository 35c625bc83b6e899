/** The languages that a search looks through. */
import { mayRead } from '../../core/access/access';
import type { Context } from '../../core/context';
import { rowsBelow } from '../../core/read/loaders';
import { Language } from '../language';
import { UserProfile } from '../userprofile';

const ENGLISH = 'en';
/** Languages with enough names of their own; others are completed with English. */
const COMPLETE: readonly string[] = [ENGLISH, 'de'];

interface Known {
  id: number;
  shortName: string;
}

const known = ({ reference }: Context): Known[] => reference.all(Language);

/** The language with this code, of the request if there is none; English if it is unknown. Undefined only where there are no languages. */
function wanted(code: string | null | undefined, context: Context): Known | undefined {
  const all = known(context);
  const named = (shortName: string) => all.find((language) => language.shortName === shortName);
  const found = code ? named(code) : context.languages.map(named).find(Boolean);
  return found ?? named(ENGLISH);
}

const ids = (languages: readonly (Known | undefined)[]): number[] => [...new Set(languages.flatMap((language) => language?.id ?? []))];

const english = (context: Context) => known(context).find(({ shortName }) => shortName === ENGLISH);

/** What a language has of its own may be little, so English completes it. */
const completed = (language: Known | undefined, context: Context): number[] =>
  ids([language, language && COMPLETE.includes(language.shortName) ? undefined : english(context)]);

export const exerciseLanguages = (code: string | null | undefined, context: Context): number[] => completed(wanted(code, context), context);

/** Exactly the one that is named; else that of the request, completed, and English for a user who wants it too. */
export async function ingredientLanguages(code: string | null | undefined, context: Context): Promise<number[]> {
  const language = wanted(code, context);
  if (code) return ids([language]);
  const languages = completed(language, context);
  if (!context.viewer || languages.length > 1 || !mayRead(UserProfile, context)) return languages;
  const [profile] = await rowsBelow(UserProfile, 'userId', ['showEnglishIngredients'], context.viewer.id, context);
  return profile?.showEnglishIngredients ? [...new Set([...languages, ...ids([english(context)])])] : languages;
}
