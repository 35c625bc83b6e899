import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField, UrlField } from '../../engine/declare/fields';
import { Resource } from '../../engine/declare/resource';

@Resource({
  restName: 'license',
  inReference: { apiRootPosition: 12 },
  dumpModelName: 'core.license',
  description: 'A licence for texts and images.',
  ordering: ['fullName'],
  filters: ['fullName', 'shortName', 'url'],
  isCachedInMemory: true,
  lookupTableSize: 5,
})
export class License extends Model<License> {
  @Id() declare id: number;
  @TextField({
    label: 'Full name',
    helpText:
      'If a licence has been localized, e.g. the Creative Commons licences, the language too.',
    max: 60,
  })
  declare fullName: string;
  @TextField({
    label: 'Short name, e.g. CC-BY-SA 3',
    description: 'The short name with which works are marked, e.g. `CC-BY-SA 3`.',
    max: 15,
  })
  declare shortName: string;
  @UrlField({
    label: 'Link',
    helpText: 'Link to the text of the licence or to other information.',
    max: 200,
    allowNull: true,
    allowBlank: true,
  })
  declare url: string | null;
}

export const LICENSE_AUTHOR_FIELD_OPTIONS = {
  label: 'Author',
  helpText: 'If you are not the author, enter the name or source here.',
  description: 'The author to be credited under the licence.',
  max: 50,
  allowNull: true,
  allowBlank: true,
  indexedForSorting: true,
} as const;

export default createCrudResolver(License);
