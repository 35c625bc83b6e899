/** Autocomplete for exercises and ingredients by a part of their name. Only in REST. */
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../../engine/declare/field-extensions';
import { NO_NULL_CHARACTERS_MESSAGE } from '../../../shared/messages';
import { MAX_PAGE_SIZE } from '../../../shared/page-size';
import type { Context } from '../../../engine/context';
import { invalidArgumentError } from '../../../engine/declare/errors';
import { ExerciseHit, findExercises, findIngredients, IngredientHit } from './suggestions';
import { hasReadScope } from '../../../engine/access/access';
import { loadChildFields } from '../../../engine/read/loaders';
import { Language } from '../language';
import { UserProfile } from '../../../accounts/user-profile';

const ENGLISH_CODE = 'en';

/**
 * Languages with many catalogue entries. Searches in any other language also search English names.
 */
const WELL_COVERED_LANGUAGE_CODES: readonly string[] = [ENGLISH_CODE, 'de'];

interface LanguageRow {
  id: number;
  shortName: string;
}

const allLanguages = ({ services: { catalogue } }: Context): LanguageRow[] =>
  catalogue.rowsOf(Language);

/**
 * Finds a language by its code or, without a code, the first known language of the Accept-Language
 * header. The default is English.
 */
function requestedLanguage(
  code: string | null | undefined,
  context: Context,
): LanguageRow | undefined {
  const languages = allLanguages(context);
  const findByCode = (shortName: string) =>
    languages.find((language) => language.shortName === shortName);
  const codes = code == null ? context.request.languages : [code];

  return [...codes, ENGLISH_CODE].map(findByCode).find(Boolean);
}

const uniqueIds = (languages: readonly (LanguageRow | undefined)[]): number[] => [
  ...new Set(languages.flatMap((language) => language?.id ?? [])),
];

const englishLanguage = (context: Context) =>
  allLanguages(context).find(({ shortName }) => shortName === ENGLISH_CODE);

/** Adds English to a language with few catalogue entries. */
const languageIdsWithEnglish = (language: LanguageRow | undefined, context: Context): number[] => {
  const isWellCovered = language && WELL_COVERED_LANGUAGE_CODES.includes(language.shortName);

  return uniqueIds(isWellCovered ? [language] : [language, englishLanguage(context)]);
};

const exerciseSearchLanguageIds = (code: string | null | undefined, context: Context): number[] =>
  languageIdsWithEnglish(requestedLanguage(code, context), context);

/**
 * Chooses the languages of an ingredient search: the language with the given code, otherwise the
 * language of the request. English is added to the language of the request if that language has few
 * entries, or if the user's profile asks for English.
 */
async function ingredientSearchLanguageIds(
  code: string | null | undefined,
  context: Context,
): Promise<number[]> {
  const language = requestedLanguage(code || undefined, context);

  if (code) return uniqueIds([language]);
  const languageIds = languageIdsWithEnglish(language, context);

  if (!context.viewer || languageIds.length > 1 || !hasReadScope(UserProfile, context)) {
    return languageIds;
  }

  const [profile] = await loadChildFields(
    UserProfile,
    'userId',
    ['showEnglishIngredients'],
    context.viewer.id,
    context,
  );

  if (!profile?.showEnglishIngredients) return languageIds;

  return [...new Set([...languageIds, ...uniqueIds([englishLanguage(context)])])];
}

/**
 * Capital letters that share their lower case with another capital letter, for example the Kelvin
 * sign and K. Only strings with such letters need a comparison in upper case.
 */
const AMBIGUOUS_CAPITAL_PATTERN = /[\u0130\u03f4\u1e9e\u2126\u212a\u212b]/u;

/**
 * Converts to upper case letter by letter. Letters such as ß, whose upper case consists of several
 * letters, remain unchanged.
 */
const simpleUpperCase = (text: string): string =>
  text.replace(/\p{L}/gu, (letter) => {
    const upperCaseLetter = letter.toUpperCase();

    return upperCaseLetter.length === letter.length ? upperCaseLetter : letter;
  });

/**
 * Selects the rows whose name contains the term, ignoring case, by comparing upper-case letters
 * like the reference service. The database compares lower-case letters, which finds more.
 */
function filterByNameIgnoringCase<T extends { name: string }>(
  term: string,
  rows: readonly T[],
): T[] {
  const isAmbiguousTerm = AMBIGUOUS_CAPITAL_PATTERN.test(term);
  const upperCaseTerm = simpleUpperCase(term);

  return rows.filter(
    ({ name }) =>
      (!isAmbiguousTerm && !AMBIGUOUS_CAPITAL_PATTERN.test(name)) ||
      simpleUpperCase(name).includes(upperCaseTerm),
  );
}

const TermArg = () =>
  Arg('term', () => String, { nullable: true, description: 'Part of the name; case-insensitive.' });
const LanguageArg = (description: string) =>
  Arg('language', () => String, { nullable: true, description });

/**
 * Options of a REST search endpoint. The hits are under the key `suggestions`, as autocomplete
 * widgets expect.
 */
const searchEndpointExtensions = (paths: string[], dataSelection: string) => ({
  cost: { weight: 50 },
  listSize: { assumedSize: MAX_PAGE_SIZE },
  exclusiveTo: 'rest' as const,
  endpoint: {
    paths,
    title: 'Search',
    wrapperKey: 'suggestions',
    graphqlSelection: `value: name data { ${dataSelection} }`,
  },
});

function checkTerm(term: string): void {
  if (term.includes('\0')) throw invalidArgumentError('term', NO_NULL_CHARACTERS_MESSAGE);
}

@Resolver()
export default class SearchResolver {
  @Query(() => [ExerciseHit], {
    nullable: true,
    description: `Accepted exercises whose names contain the term, at most ${MAX_PAGE_SIZE}, sorted by category and name; null without a term.`,
  })
  @FieldExtensions(
    searchEndpointExtensions(
      ['exercise/search', 'exerciseinfo/search'],
      'id: translationId name category image image_thumbnail: imageThumbnail',
    ),
  )
  async exerciseSuggestions(
    @TermArg() term: string | null,
    @LanguageArg(
      'Two-letter code; English if it is unknown, the language that the request accepts if absent. All but `de` are completed with English.',
    )
    languageCode: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseHit[] | null> {
    if (!term) return null;
    checkTerm(term);
    const languageIds = exerciseSearchLanguageIds(languageCode, context);

    return filterByNameIgnoringCase(term, await findExercises(term, languageIds, context));
  }

  @Query(() => [IngredientHit], {
    nullable: true,
    description: `Accepted ingredients whose names contain the term, at most ${MAX_PAGE_SIZE}, sorted by name; null without a term.`,
  })
  @FieldExtensions(searchEndpointExtensions(['ingredient/search'], 'id: ingredientId name'))
  async ingredientSuggestions(
    @TermArg() term: string | null,
    @LanguageArg(
      'Two-letter code; English if it is unknown. Absent: the language that the request accepts, completed with English; German only for users whose profile says so.',
    )
    languageCode: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientHit[] | null> {
    if (!term) return null;
    checkTerm(term);
    const languageIds = await ingredientSearchLanguageIds(languageCode, context);

    return filterByNameIgnoringCase(term, await findIngredients(term, languageIds, context));
  }
}
