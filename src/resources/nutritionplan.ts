import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Children, Day, defaults, Flag, Id, Owner, Ref, Text } from '../core/fields';
import { Resource } from '../core/resource';
import { DiaryEntry } from './diaryentry';
import { Language } from './language';
import { Meal } from './meal';
import { User } from './user';

const ENGLISH = 2;

const filters = ['creationDate', 'languageId', 'description', 'hasGoalCalories'];

@Resource({
  rest: 'nutritionplan',
  position: 25,
  dump: 'nutrition.nutritionplan',
  description: 'A nutrition plan; its meals and its diary hang below it.',
  owned: true,
  ordering: ['-creationDate'],
  filters,
})
export class NutritionPlan extends Model<NutritionPlan> {
  @Id() declare id: number;
  @Day({ label: 'Creation date', readOnly: true, default: defaults.today }) declare creationDate: string;
  @Text({
    label: 'Description',
    help: 'A description of the goal of the plan, e.g. "Gain mass" or "Prepare for summer".',
    max: 80,
    blank: true,
  })
  declare description: string;
  @Flag({ label: 'Use daily calories', help: 'Compare the plan with the calories of the profile.', default: false })
  declare hasGoalCalories: boolean;
  @Ref(() => Language, { label: 'Language', note: 'Of the client that made the plan.', readOnly: true }) declare languageId: number;
  @Owner(() => User, { hidden: true }) declare userId: number;
  @Children(() => Meal, 'planId', { help: 'Its meals, by time.' }) declare meals: Meal[];
  @Children(() => DiaryEntry, 'planId', { connection: true, help: 'What was eaten.' }) declare diaryEntries: DiaryEntry[];
}

export default crud(NutritionPlan, {
  before(values, { languages, reference }, _transaction, id) {
    if (id !== undefined) return;
    const known = new Map(reference.all(Language).map((language) => [language.shortName as string, language.id as number]));
    const preferred = languages.find((code) => known.has(code));
    values.languageId = (preferred && known.get(preferred)) ?? ENGLISH;
  },
});
