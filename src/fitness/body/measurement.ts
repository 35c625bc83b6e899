import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import {
  DateTimeField,
  DecimalField,
  defaultValues,
  Id,
  TextField,
} from '../../engine/declare/fields';
import { Owner, Ref, Resource } from '../../engine/declare/resource';
import { MeasurementCategory } from './measurement-category';
import { User } from '../../accounts/user';

@Resource({
  restName: 'measurement',
  // Since version 2.1, so the root of version 2.0 does not list it.
  inReference: {},
  title: 'Measurement',
  dumpModelName: 'measurements.measurement',
  description: 'A measurement of the body of a user at one time.',
  isOwned: true,
  hasBulkMutations: true,
  scopeGroup: 'body',
  ordering: ['-measuredAt'],
  groupKeyPaths: {},
  labelFieldPaths: ['category.name', 'value'],
  filters: ['measuredAt', 'categoryId', 'value'],
})
export class Measurement extends Model<Measurement> {
  @Id() declare id: number;
  @Ref(() => MeasurementCategory, { label: 'Category' }) declare categoryId: number;
  @DateTimeField({
    label: 'Date',
    columnAndRestKey: 'date',
    description: 'When it was measured.',
    default: defaultValues.now,
  })
  declare measuredAt: string;
  @DecimalField({
    label: 'Value',
    description: 'In the unit of the category.',
    maxDigits: 8,
    decimalPlaces: 3,
    min: 0,
    max: 99_999,
  })
  declare value: string;
  @TextField({
    label: 'Notes',
    description: 'Notes of the user.',
    max: 100,
    allowBlank: true,
    default: '',
  })
  declare notes: string;
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

export default createCrudResolver(Measurement);
