import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Children, Owner, Resource } from '../../engine/declare/resource';
import { Measurement } from './measurement';
import { User } from '../../accounts/user';

@Resource({
  restName: 'measurement-category',
  // Since version 2.1, so the root of version 2.0 does not list it.
  inReference: {},
  title: 'Measurement Category',
  dumpModelName: 'measurements.category',
  description: 'Something that a user measures, such as the waist or the blood pressure.',
  pluralName: 'measurementCategories',
  isOwned: true,
  scopeGroup: 'body',
  ordering: ['name'],
  uniqueFields: ['name', 'userId'],
  filters: ['name', 'valueUnit'],
})
export class MeasurementCategory extends Model<MeasurementCategory> {
  @Id() declare id: number;
  @TextField({ label: 'Name', description: 'What is measured, e.g. waist.', max: 100 })
  declare name: string;
  @TextField({
    label: 'Unit',
    columnAndRestKey: 'unit',
    description: 'The unit of the values, e.g. cm or %.',
    max: 50,
  })
  declare valueUnit: string;
  @Children(() => Measurement, 'categoryId', {
    isConnection: true,
    description: 'The measurements, newest first.',
  })
  declare measurements: Measurement[];
  @Owner(() => User, { hiddenInRest: true, restSortable: false }) declare userId: number;
}

export default createCrudResolver(MeasurementCategory);
