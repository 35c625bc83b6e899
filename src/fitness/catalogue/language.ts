import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Resource } from '../../engine/declare/resource';
import { ExerciseTranslation } from './exercise-translation';
import { Ingredient } from './ingredient';

@Resource({
  restName: 'language',
  inReference: { apiRootPosition: 10 },
  dumpModelName: 'core.language',
  description: 'A language, with its two-letter code.',
  ordering: ['fullName'],
  filters: ['fullName', 'shortName'],
  isCachedInMemory: true,
  lookupTableSize: 20,
})
export class Language extends Model<Language> {
  @Id() declare id: number;
  @TextField({ label: 'Language short name', helpText: 'ISO 639-1 code, e.g. `en`.', max: 2 })
  declare shortName: string;
  @TextField({
    label: 'Language full name',
    description: 'The name of the language in the language itself.',
    max: 30,
  })
  declare fullName: string;
  @Children(() => ExerciseTranslation, 'languageId', {
    isConnection: true,
    description: 'Translations of exercises into this language.',
  })
  declare exerciseTranslations: ExerciseTranslation[];
  @Children(() => Ingredient, 'languageId', {
    isConnection: true,
    description: 'Ingredients with a name in this language.',
  })
  declare ingredients: Ingredient[];
}

export default createCrudResolver(Language);
