import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Resource } from '../../engine/declare/resource';

@Resource({
  restName: 'setting-weightunit',
  inReference: { apiRootPosition: 14 },
  dumpModelName: 'core.weightunit',
  description: 'The unit of a training weight, e.g. kg, lb or plates.',
  ordering: ['name'],
  filters: ['name'],
  isCachedInMemory: true,
  lookupTableSize: 6,
})
export class WeightUnit extends Model<WeightUnit> {
  @Id() declare id: number;
  @TextField({
    label: 'Name',
    description: 'The name in English, e.g. `kg` or `Body Weight`.',
    max: 100,
  })
  declare name: string;
}

export default createCrudResolver(WeightUnit);
