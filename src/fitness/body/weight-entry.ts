import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  ChoiceField,
  DateField,
  DecimalField,
  defaultValues,
  Id,
} from '../../engine/declare/fields';
import { Owner, Resource } from '../../engine/declare/resource';
import { BODY_WEIGHT_KG_FIELD_OPTIONS } from '../training/kilograms';
import { MASS_UNIT_CHOICES } from './mass-unit';
import { User } from '../../accounts/user';

@Resource({
  restName: 'weightentry',
  inReference: { apiRootPosition: 28 },
  dumpModelName: 'weight.weightentry',
  description: 'The body weight of a user on one day, in the unit in which it was logged.',
  pluralName: 'weightEntries',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'body',
  ordering: ['date'],
  groupKeyPaths: {},
  uniqueFields: ['date', 'userId'],
  filters: ['date', 'weight'],
})
export class WeightEntry extends Model<WeightEntry> {
  @Id() declare id: number;
  @DateField({
    label: 'Date',
    description: 'The day of the measurement; at most one entry per day.',
  })
  declare date: string;
  @DecimalField({
    label: 'Weight',
    description: 'The logged weight, in the weight unit of the profile at that time.',
    graphqlDescription: 'The logged weight, in `unit`.',
    maxDigits: 5,
    decimalPlaces: 2,
    min: 30,
    max: 600,
  })
  declare weight: string;
  @ChoiceField({
    label: 'Unit',
    description:
      'The unit of `weight`. A new entry without one gets that of the profile; an entry keeps its unit until an input names another.',
    choices: MASS_UNIT_CHOICES,
    default: defaultValues.byTrigger,
    hiddenInRest: true,
    hiddenOnPages: false,
    restSortable: false,
    max: 2,
  })
  declare unit: string;
  @DecimalField(BODY_WEIGHT_KG_FIELD_OPTIONS) declare weightKg: string;
  @Owner(() => User) declare userId: number;
}

export default createCrudResolver(WeightEntry);
