/** Chooses the languages in which a search looks for names. */
import { hasReadScope } from '../../core/access/access';
import type { Context } from '../../core/context';
import { loadChildFields } from '../../core/read/loaders';
import { Language } from '../language';
import { UserProfile } from '../userprofile';

const ENGLISH_CODE = 'en';
/** Codes of the languages with enough catalogue entries. Searches in other languages also search English names. */
const WELL_COVERED_LANGUAGE_CODES: readonly string[] = [ENGLISH_CODE, 'de'];

interface LanguageRow {
  id: number;
  shortName: string;
}

const allLanguages = ({ services: { catalogue } }: Context): LanguageRow[] =>
  catalogue.rowsOf(Language);

/**
 * Returns the language with this code or, without a code, the first known language of the Accept-Language header. If there is none, returns English;
 * undefined if the database has no English.
 */
function requestedLanguage(
  code: string | null | undefined,
  context: Context,
): LanguageRow | undefined {
  const languages = allLanguages(context);
  const findByCode = (shortName: string) =>
    languages.find((language) => language.shortName === shortName);
  const match = code ? findByCode(code) : context.request.languages.map(findByCode).find(Boolean);
  return match ?? findByCode(ENGLISH_CODE);
}

const uniqueIds = (languages: readonly (LanguageRow | undefined)[]): number[] => [
  ...new Set(languages.flatMap((language) => language?.id ?? [])),
];

const englishLanguage = (context: Context) =>
  allLanguages(context).find(({ shortName }) => shortName === ENGLISH_CODE);

/** Returns the id of a language and, unless the language has enough catalogue entries, that of English. */
const languageIdsWithEnglish = (language: LanguageRow | undefined, context: Context): number[] =>
  uniqueIds([
    language,
    language && WELL_COVERED_LANGUAGE_CODES.includes(language.shortName)
      ? undefined
      : englishLanguage(context),
  ]);

export const exerciseSearchLanguageIds = (
  code: string | null | undefined,
  context: Context,
): number[] => languageIdsWithEnglish(requestedLanguage(code, context), context);

/**
 * Returns the ids of the languages in which a search looks for ingredients. With a code, this is the language with the code, or English if the code is
 * unknown. Without a code, it is the language of the request, plus English if that language has few entries or the profile of the user asks for English.
 */
export async function ingredientSearchLanguageIds(
  code: string | null | undefined,
  context: Context,
): Promise<number[]> {
  const language = requestedLanguage(code, context);
  if (code) return uniqueIds([language]);
  const languageIds = languageIdsWithEnglish(language, context);
  if (!context.viewer || languageIds.length > 1 || !hasReadScope(UserProfile, context))
    return languageIds;
  const [profile] = await loadChildFields(
    UserProfile,
    'userId',
    ['showEnglishIngredients'],
    context.viewer.id,
    context,
  );
  return profile?.showEnglishIngredients
    ? [...new Set([...languageIds, ...uniqueIds([englishLanguage(context)])])]
    : languageIds;
}
