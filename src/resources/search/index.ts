import { Arg, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import { MAX_PAGE } from '../../core/connection';
import type { Context } from '../../core/context';
import { badArgument } from '../../core/errors';
import { exerciseLanguages, ingredientLanguages } from './languages';
import { ExerciseSuggestion, findExercises, findIngredients, IngredientSuggestion } from './suggestions';

const Term = () => Arg('term', () => String, { nullable: true, description: 'Part of the name, in capitals or not.' });
const LANGUAGE = 'Two-letter code; English if it is unknown, the language that the request accepts if absent';
const endpoint = (paths: string[], data: string) => ({
  endpoint: { paths, title: 'Search', key: 'suggestions', selection: `value data { ${data} }` },
});

/** Whether there is something to search for. */
function isTerm(term: string | null): term is string {
  if (term?.includes('\0')) throw badArgument('term', 'Null characters are not allowed.');
  return Boolean(term);
}

@Resolver()
export default class SearchResolver {
  @Query(() => [ExerciseSuggestion], {
    nullable: true,
    description: `Accepted exercises by a part of their name, ${MAX_PAGE} at most, sorted by category and name; null without a term.`,
  })
  @Extensions(endpoint(['exercise/search', 'exerciseinfo/search'], 'id name category image image_thumbnail: imageThumbnail'))
  async exerciseSearch(
    @Term() term: string | null,
    @Arg('language', () => String, { nullable: true, description: `${LANGUAGE}. All but \`de\` are completed with English.` })
    language: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseSuggestion[] | null> {
    return isTerm(term) ? findExercises(term, exerciseLanguages(language, context), context) : null;
  }

  @Query(() => [IngredientSuggestion], {
    nullable: true,
    description: `Accepted ingredients by a part of their name, ${MAX_PAGE} at most, sorted by name; null without a term.`,
  })
  @Extensions(endpoint(['ingredient/search'], 'id name'))
  async ingredientSearch(
    @Term() term: string | null,
    @Arg('language', () => String, {
      nullable: true,
      description: `${LANGUAGE}, and English too for users whose profile says so.`,
    })
    language: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientSuggestion[] | null> {
    return isTerm(term) ? findIngredients(term, await ingredientLanguages(language, context), context) : null;
  }
}
