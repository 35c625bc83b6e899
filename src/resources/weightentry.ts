import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../core/schema/crud';
import { ChoiceField, DateField, DecimalField, defaultValues, Id } from '../core/model/fields';
import { Owner } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { BODY_WEIGHT_KG_FIELD_OPTIONS } from './kilograms';
import { MASS_UNIT_CHOICES } from './massunit';
import { User } from './user';

@Resource({
  restName: 'weightentry',
  apiRootPosition: 28,
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
    description: 'The logged weight, in `unit`.',
    maxDigits: 5,
    decimalPlaces: 2,
    min: 30,
    max: 600,
  })
  declare weight: string;
  @ChoiceField({
    label: 'Unit',
    description:
      'The unit of `weight`. If absent from the input, that of the profile; existing entries keep their unit when the profile changes.',
    choices: MASS_UNIT_CHOICES,
    default: defaultValues.byTrigger,
    hiddenInRest: true,
    restSortable: false,
    max: 2,
  })
  declare unit: string;
  @DecimalField(BODY_WEIGHT_KG_FIELD_OPTIONS) declare weightKg: string;
  @Owner(() => User) declare userId: number;
}

export default createCrudResolver(WeightEntry, {
  /**
   * Clears the unit of a body weight that is being written: in REST always, in GraphQL if the input contains no unit. A database trigger then sets the
   * weight unit of the user's profile.
   */
  addDerivedValues(values, { policies }) {
    if (values.weight !== undefined && (policies.assumesProfileUnits || values.unit === undefined))
      values.unit = null;
  },
});
