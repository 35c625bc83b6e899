import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Id, Text } from '../core/fields';
import { Resource } from '../core/resource';

@Resource({
  rest: 'language',
  position: 10,
  dump: 'core.language',
  description: 'A language of texts, with its two-letter code.',
  ordering: ['fullName'],
  filters: ['fullName', 'shortName'],
  inMemory: true,
})
export class Language extends Model<Language> {
  @Id() declare id: number;
  @Text({ label: 'Language short name', help: 'ISO 639-1 code, e.g. `en`.', max: 2 }) declare shortName: string;
  @Text({ label: 'Language full name', max: 30 }) declare fullName: string;
}

export default crud(Language);
