import { Model } from 'sequelize-typescript';
import { crud } from '../core/schema/crud';
import { Day, Decimal, Id } from '../core/model/fields';
import { Owner } from '../core/model/relationfields';
import { Resource } from '../core/model/resource';
import { byPreference } from './kilograms';
import { User } from './user';

@Resource({
  rest: 'weightentry',
  position: 28,
  dump: 'weight.weightentry',
  description: 'The body weight of a user on one day, in the unit that the user prefers.',
  plural: 'weightEntries',
  owned: true,
  group: 'body',
  ordering: ['date'],
  unique: ['date', 'userId'],
  filters: ['date', 'weight'],
})
export class WeightEntry extends Model<WeightEntry> {
  @Id() declare id: number;
  @Day({ label: 'Date', note: 'The day of the weighing; one for each day.' }) declare date: string;
  @Decimal({ label: 'Weight', note: 'In the unit that the user prefers.', digits: 5, places: 2, min: 30, max: 600 }) declare weight: string;
  @Decimal(byPreference) declare weightKg: string;
  @Owner(() => User) declare userId: number;
}

export default crud(WeightEntry);
