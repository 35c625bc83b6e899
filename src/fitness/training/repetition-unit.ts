import { Model } from 'sequelize-typescript';
import { createCrudResolver } from '../../engine/schema/crud';
import { Id, TextField } from '../../engine/declare/fields';
import { Resource } from '../../engine/declare/resource';

@Resource({
  restName: 'setting-repetitionunit',
  inReference: { apiRootPosition: 13 },
  dumpModelName: 'core.repetitionunit',
  description:
    'The unit in which logs and planned sets count repetitions, e.g. repetitions, seconds or miles.',
  ordering: ['name'],
  filters: ['name'],
  isCachedInMemory: true,
  lookupTableSize: 6,
})
export class RepetitionUnit extends Model<RepetitionUnit> {
  @Id() declare id: number;
  @TextField({ label: 'Name', description: 'The name in English.', max: 100 }) declare name: string;
}

export default createCrudResolver(RepetitionUnit);
