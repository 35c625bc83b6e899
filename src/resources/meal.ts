import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Children, Clock, Id, Owner, Ref, Whole } from '../core/fields';
import { Resource } from '../core/resource';
import { MealItem } from './mealitem';
import { NutritionPlan } from './nutritionplan';
import { User } from './user';

@Resource({
  rest: 'meal',
  position: 26,
  dump: 'nutrition.meal',
  description: 'A meal of a nutrition plan.',
  owned: true,
  ordering: ['time'],
  filters: ['order', 'planId', 'time'],
})
export class Meal extends Model<Meal> {
  @Id() declare id: number;
  @Ref(() => NutritionPlan, { label: 'Nutrition plan' }) declare planId: number;
  @Whole({ label: 'Order', note: 'Place among the meals of the plan.', default: 1, readOnly: 'rest' }) declare order: number;
  @Clock({ label: 'Time (approx)', null: true }) declare time: string | null;
  @Owner(() => User, { hidden: true }) declare userId: number;
  @Children(() => MealItem, 'mealId', { help: 'What it consists of.' }) declare items: MealItem[];
}

export default crud(Meal);
