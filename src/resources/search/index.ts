import { Arg, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import { NO_NULLS } from '../../contract/messages';
import { MAX_PAGE } from '../../core/read/connection';
import type { Context } from '../../core/context';
import { badArgument } from '../../core/model/errors';
import { checkSearch } from '../../core/sql/where';
import { inCapitals } from './capitals';
import { exerciseLanguages, ingredientLanguages } from './languages';
import { ExerciseHit, findExercises, findIngredients, IngredientHit, searchExercises, searchIngredients } from './suggestions';

const PART = 'Part of the name, in capitals or not.';
const LIKE =
  'What the name may be like: each of the words a word of the name or the beginning of one, slips forgiven; nothing finds nothing.';
const EXERCISE_LANGUAGE =
  'Two-letter code; English if it is unknown, the language that the request accepts if absent. All but `de` are completed with English.';
const INGREDIENT_LANGUAGE =
  'Two-letter code; English if it is unknown. Absent: the language that the request accepts, completed with English; German only for users whose profile says so.';

const Term = () => Arg('term', () => String, { description: LIKE });
const Part = () => Arg('term', () => String, { nullable: true, description: PART });
const Language = (description: string) => Arg('language', () => String, { nullable: true, description });

/** As many as may be found. */
const HITS = { cost: { weight: 50 }, listSize: { assumedSize: MAX_PAGE } };

/** The searches as REST has them: no term has no answer, and what is found is wrapped up for a widget. */
const endpoint = (paths: string[], data: string) => ({
  ...HITS,
  only: 'rest',
  endpoint: { paths, title: 'Search', key: 'suggestions', selection: `value: name data { ${data} }` },
});

function checked(term: string): string {
  if (term.includes('\0')) throw badArgument('term', NO_NULLS);
  return term;
}

@Resolver()
export default class SearchResolver {
  @Query(() => [ExerciseHit], {
    description: `Accepted exercises whose name is like a term, ${MAX_PAGE} at most, the best first.`,
  })
  @Extensions(HITS)
  async exerciseSearch(
    @Term() term: string,
    @Language(EXERCISE_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseHit[]> {
    checkSearch('term', checked(term));
    return term.trim() ? searchExercises(term.trim(), exerciseLanguages(language, context), context) : [];
  }

  @Query(() => [ExerciseHit], {
    nullable: true,
    description: `Accepted exercises by a part of their name, ${MAX_PAGE} at most, sorted by category and name; null without one.`,
  })
  @Extensions(endpoint(['exercise/search', 'exerciseinfo/search'], 'id: exerciseId name category image image_thumbnail: imageThumbnail'))
  async exerciseSuggestions(
    @Part() term: string | null,
    @Language(EXERCISE_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<ExerciseHit[] | null> {
    return term ? inCapitals(term, await findExercises(checked(term), exerciseLanguages(language, context), context)) : null;
  }

  @Query(() => [IngredientHit], {
    description: `Accepted ingredients whose name is like a term, ${MAX_PAGE} at most, the best first.`,
  })
  @Extensions(HITS)
  async ingredientSearch(
    @Term() term: string,
    @Language(INGREDIENT_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientHit[]> {
    checkSearch('term', checked(term));
    return term.trim() ? searchIngredients(term.trim(), await ingredientLanguages(language, context), context) : [];
  }

  @Query(() => [IngredientHit], {
    nullable: true,
    description: `Accepted ingredients by a part of their name, ${MAX_PAGE} at most, sorted by name; null without one.`,
  })
  @Extensions(endpoint(['ingredient/search'], 'id: ingredientId name'))
  async ingredientSuggestions(
    @Part() term: string | null,
    @Language(INGREDIENT_LANGUAGE) language: string | null,
    @Ctx() context: Context,
  ): Promise<IngredientHit[] | null> {
    return term ? inCapitals(term, await findIngredients(checked(term), await ingredientLanguages(language, context), context)) : null;
  }
}
