import { Model } from 'sequelize-typescript';
import { crud } from '../core/crud';
import { Children, Choose, Day, Decimal, defaults, Id, Moment, Ref, Text, Url, Whole } from '../core/fields';
import { Resource } from '../core/resource';
import { IngredientUnit } from './ingredientunit';
import { Language } from './language';
import { License } from './license';
import { ACCEPTED, PENDING, STATUS } from './status';

const grams = { digits: 6, places: 3, min: 0, max: 100 } as const;
const filters = [
  'carbohydrates',
  'carbohydratesSugar',
  'creationDate',
  'energy',
  'fat',
  'fatSaturated',
  'fibres',
  'name',
  'protein',
  'sodium',
  'status',
  'updateDate',
  'languageId',
  'licenseId',
  'licenseAuthor',
];

@Resource({
  rest: 'ingredient',
  position: 22,
  dump: 'nutrition.ingredient',
  description: 'A food, with its nutrition values per 100 g.',
  ordering: ['name'],
  visible: { status: ACCEPTED },
  filters,
  views: {
    ingredientinfo: {
      position: 29,
      title: 'Ingredient Info',
      filters,
      selection: `id name creation_date: creationDate update_date: updateDate energy protein carbohydrates
        carbohydrates_sugar: carbohydratesSugar fat fat_saturated: fatSaturated fibres sodium license { ...license }
        license_author: licenseAuthor ingredientweightunit_set: units { gram amount unit { id name language: languageId } }
        language { ...language }`,
    },
  },
})
export class Ingredient extends Model<Ingredient> {
  @Id() declare id: number;
  @Text({ label: 'Name', min: 3, max: 200 }) declare name: string;
  @Day({ label: 'Date', readOnly: true, default: defaults.today }) declare creationDate: string;
  @Day({ label: 'Date', readOnly: true, default: defaults.today }) declare updateDate: string;
  @Whole({ label: 'Energy', help: 'In kcal per 100 g.', min: -2147483648, max: 2147483647 }) declare energy: number;
  @Decimal({ label: 'Protein', help: 'In g per 100 g of product.', ...grams }) declare protein: string;
  @Decimal({ label: 'Carbohydrates', help: 'In g per 100 g of product.', ...grams }) declare carbohydrates: string;
  @Decimal({ label: 'Sugar content in carbohydrates', help: 'In g per 100 g of product.', ...grams, null: true })
  declare carbohydratesSugar: string | null;
  @Decimal({ label: 'Fat', help: 'In g per 100 g of product.', ...grams }) declare fat: string;
  @Decimal({ label: 'Saturated fat content in fats', help: 'In g per 100 g of product.', ...grams, null: true })
  declare fatSaturated: string | null;
  @Decimal({ label: 'Fibres', help: 'In g per 100 g of product.', ...grams, null: true }) declare fibres: string | null;
  @Decimal({ label: 'Sodium', help: 'In g per 100 g of product.', ...grams, null: true }) declare sodium: string | null;
  @Ref(() => License, { label: 'License', default: 2 }) declare licenseId: number;
  @Text({ label: 'Author', help: 'If you are not the author, enter the name or source here.', max: 50, null: true, blank: true })
  declare licenseAuthor: string | null;
  @Ref(() => Language, { label: 'Language', readOnly: true }) declare languageId: number;
  @Choose({ label: 'Status', choices: STATUS, default: PENDING, readOnly: true, hidden: true, max: 2 }) declare status: string;
  @Text({ label: 'Code', help: 'Barcode, e.g. an EAN.', max: 200, null: true, blank: true, hidden: true }) declare code: string | null;
  @Text({ label: 'Source name', max: 200, null: true, blank: true, hidden: true }) declare sourceName: string | null;
  @Url({ label: 'Source URL', max: 200, null: true, blank: true, hidden: true }) declare sourceUrl: string | null;
  @Moment({ label: 'Last imported', null: true, readOnly: true, hidden: true }) declare lastImported: string | null;
  @Text({ label: 'Common name', max: 200, null: true, blank: true, hidden: true }) declare commonName: string | null;
  @Text({ label: 'Category', max: 100, null: true, blank: true, hidden: true }) declare category: string | null;
  @Text({ label: 'Brand', max: 200, null: true, blank: true, hidden: true }) declare brand: string | null;
  @Children(() => IngredientUnit, 'ingredientId', { help: 'Its household units.' }) declare units: IngredientUnit[];
}

export default crud(Ingredient);
