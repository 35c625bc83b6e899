/** Autocomplete for exercises and ingredients by a part of their name; only in REST. */
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { FieldExtensions } from '../../core/model/fieldextensions';
import { NO_NULL_CHARACTERS_MESSAGE } from '../../contract/messages';
import { MAX_PAGE_SIZE } from '../../core/model/pagesize';
import type { Context } from '../../core/context';
import { invalidArgumentError } from '../../core/model/errors';
import { filterCaseInsensitively } from './caseinsensitive';
import { exerciseSearchLanguageIds, ingredientSearchLanguageIds } from './languages';
import { ExerciseHit, findExercises, findIngredients, IngredientHit } from './suggestions';

const TermArg = () =>
  Arg('term', () => String, { nullable: true, description: 'Part of the name; case-insensitive.' });
const LanguageArg = (description: string) =>
  Arg('language', () => String, { nullable: true, description });

/** Returns the options of a REST search endpoint. The hits are under the key `suggestions`, as an autocomplete widget expects them. */
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

function checkTerm(term: string): string {
  if (term.includes('\0')) throw invalidArgumentError('term', NO_NULL_CHARACTERS_MESSAGE);
  return term;
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
      'id: exerciseId name category image image_thumbnail: imageThumbnail',
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
    return term
      ? filterCaseInsensitively(
          term,
          await findExercises(
            checkTerm(term),
            exerciseSearchLanguageIds(languageCode, context),
            context,
          ),
        )
      : null;
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
    return term
      ? filterCaseInsensitively(
          term,
          await findIngredients(
            checkTerm(term),
            await ingredientSearchLanguageIds(languageCode, context),
            context,
          ),
        )
      : null;
  }
}
