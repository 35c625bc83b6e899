import { Arg, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import { MAX_PAGE } from '../../core/connection';
import type { Context } from '../../core/context';
import { badArgument } from '../../core/errors';
import { inCapitals } from './capitals';
import { exerciseLanguages, ingredientLanguages } from './languages';
import { ExerciseHit, findExercises, findIngredients, IngredientHit } from './suggestions';

const TERM = 'Part of the name, in capitals or not';
const EXERCISE_LANGUAGE =
  'Two-letter code; English if it is unknown, the language that the request accepts if absent. All but `de` are completed with English.';
const INGREDIENT_LANGUAGE =
  'Two-letter code; English if it is unknown. Absent: the language that the request accepts, completed with English; German only for users whose profile says so.';

const Term = () => Arg('term', () => String, { description: `${TERM}; an empty one finds nothing.` });
const PerhapsTerm = () => Arg('term', () => String, { nullable: true, description: `${TERM}.` });
const Language = (description: string) => Arg('language', () => String, { nullable: true, description });

/** The searches as REST has them: no term has no answer, and what is found is wrapped up for a widget. */
const endpoint = (paths: string[], data: string) => ({
  only: 'rest',
  endpoint: { paths, title: 'Search', key: 'suggestions', selection: `value: name data { ${data} }` },
});

function checked(term: string): string {
  if (term.includes('\0')) throw badArgument('term', 'Null characters are not allowed.');
  return term;
}

@Resolver()
export default class SearchResolver {
  @Query(() => [ExerciseHit], {
    description: `Accepted exercises by a part of their name, ${MAX_PAGE} at most, sorted by category and name.`,
  })
  async exerciseSearch(
    @Term() term: string,
    @Language(EXERCISE_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseHit[]> {
    return checked(term) ? findExercises(term, exerciseLanguages(language, context), context) : [];
  }

  @Query(() => [ExerciseHit], { nullable: true, description: 'As `exerciseSearch`; null without a term.' })
  @Extensions(endpoint(['exercise/search', 'exerciseinfo/search'], 'id: exerciseId name category image image_thumbnail: imageThumbnail'))
  async exerciseSuggestions(
    @PerhapsTerm() term: string | null,
    @Language(EXERCISE_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseHit[] | null> {
    return term ? inCapitals(term, await this.exerciseSearch(term, language, context)) : null;
  }

  @Query(() => [IngredientHit], {
    description: `Accepted ingredients by a part of their name, ${MAX_PAGE} at most, sorted by name.`,
  })
  async ingredientSearch(
    @Term() term: string,
    @Language(INGREDIENT_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientHit[]> {
    return checked(term) ? findIngredients(term, await ingredientLanguages(language, context), context) : [];
  }

  @Query(() => [IngredientHit], { nullable: true, description: 'As `ingredientSearch`; null without a term.' })
  @Extensions(endpoint(['ingredient/search'], 'id: ingredientId name'))
  async ingredientSuggestions(
    @PerhapsTerm() term: string | null,
    @Language(INGREDIENT_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientHit[] | null> {
    return term ? inCapitals(term, await this.ingredientSearch(term, language, context)) : null;
  }
}
