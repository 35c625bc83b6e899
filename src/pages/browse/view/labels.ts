/** Readable labels of fields. They replace labels of the REST API that are hard to understand on a page. */
import type { GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../contract/metadata';
import { labelFor as humanize, nounOfTypeName, upperFirst } from '../../../core/model/inflection';

/** Label that several date fields share. A label derived from the name of the field replaces it, because that is more specific. */
const AMBIGUOUS_LABEL = 'Date';

/** Labels by field name, for fields that share a label. */
const LABELS_BY_FIELD_NAME: Readonly<Record<string, string>> = {
  workHours: 'Hours of work',
  workIntensity: 'Intensity of work',
  sportHours: 'Hours of sport',
  sportIntensity: 'Intensity of sport',
  freetimeHours: 'Hours of free time',
  freetimeIntensity: 'Intensity of free time',
};

const LABEL_REPLACEMENTS: Readonly<Record<string, string>> = {
  'Base license': 'License of the base',
  'Creation date': 'Created on',
  'Date of Birth': 'Date of birth',
  Datetime: 'Date and time',
  'Days of week': 'Days of the week',
  'Equipment items': 'Equipment',
  'Exercises secondary': 'Exercises as a secondary muscle',
  Fibres: 'Fibre',
  'Finish time': 'End time',
  'Image url main': 'Drawing',
  'Is a loop': 'Starts over',
  'Is front': 'On the front',
  'Is temporary': 'Temporary',
  'Language full name': 'Name',
  'Language short name': 'Code',
  'Muscles secondary': 'Secondary muscles',
  'Number of sets': 'Sets',
  Reps: 'Repetitions',
  'Saturated fat content in fats': 'Saturated fat',
  'Schedule active': 'Active',
  'Short name, e.g. CC-BY-SA 3': 'Short name',
  'Sugar content in carbohydrates': 'Sugar',
  'Time (approx)': 'Approximate time',
  'Update date': 'Updated on',
  'Weekday rows': 'Weekdays',
};

const replaceLabel = (label: string): string => LABEL_REPLACEMENTS[label] ?? label;

/** Converts the name of a GraphQL field to words: `weightEntries` becomes `Weight entries`. */
export const fieldNameToWords = (name: string): string => replaceLabel(humanize(name));

export const singularLabelOf = ({ name }: GraphQLObjectType): string =>
  upperFirst(nounOfTypeName(name));

export const pluralLabelOf = (type: GraphQLObjectType): string =>
  fieldNameToWords(type.extensions.resource!.listQueryName);

/** Returns the readable title of an endpoint. `name` is its title in OPTIONS responses, such as `Get log overview`. */
export const endpointTitle = (name: string): string => upperFirst(name.replace(/^Get /, ''));

/** Returns the label of a field. For a relation, it is derived from the GraphQL name (`exercise`), because the REST label may describe the id. */
export function fieldLabelOf({ relation, label, name }: FieldMetadata): string {
  if (relation) return fieldNameToWords(relation.objectFieldName);
  return (
    LABELS_BY_FIELD_NAME[name] ??
    (label === AMBIGUOUS_LABEL ? fieldNameToWords(name) : replaceLabel(label))
  );
}
