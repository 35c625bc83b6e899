/** Readable labels of fields, instead of labels of the REST API that are hard to understand. */
import type { GraphQLObjectType } from 'graphql';
import type { FieldMetadata } from '../../../shared/metadata';
import { labelFor as humanize, nounOf, upperFirst } from '../../../engine/declare/inflection';

/**
 * REST label that several date fields share. The name of the field replaces it, because it is more
 * specific.
 */
const AMBIGUOUS_LABEL = 'Date';

const LABEL_REPLACEMENTS: Readonly<Record<string, string>> = {
  'Base license': 'License of the exercise',
  'Creation date': 'Created on',
  'Date of Birth': 'Date of birth',
  Datetime: 'Date and time',
  'Days of week': 'Days of the week',
  'Equipment list': 'Equipment',
  Fibres: 'Fibre',
  // REST calls each translation an exercise.
  'Exercise translation': 'Exercise',
  'Exercise translations': 'Exercises',
  'Exercise translations secondary': 'Exercises as a secondary muscle',
  'Finish time': 'End time',
  'Image url main': 'Drawing',
  'Is a loop': 'Starts over',
  'Is front': 'On the front',
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
  Translation: 'Exercise',
  'Update date': 'Updated on',
  'Weekday rows': 'Weekdays',
};

const replaceLabel = (label: string): string => LABEL_REPLACEMENTS[label] ?? label;

/** Converts the name of a GraphQL field to words: `weightEntries` becomes `Weight entries`. */
export const fieldNameToWords = (name: string): string => replaceLabel(humanize(name));

export const singularLabelOf = ({ name }: GraphQLObjectType): string =>
  replaceLabel(upperFirst(nounOf(name)));

export const pluralLabelOf = (type: GraphQLObjectType): string =>
  fieldNameToWords(type.extensions.resource!.listQueryName);

/** Shortens the title of an endpoint in OPTIONS responses, such as `Get log overview`. */
export const endpointTitle = (name: string): string => upperFirst(name.replace(/^Get /, ''));

/**
 * Label of a field. A relation is labelled by its GraphQL name, because its REST label may describe
 * the id.
 */
export function fieldLabelOf({ relation, label, name }: FieldMetadata): string {
  if (relation) return fieldNameToWords(relation.relationFieldName);

  return label === AMBIGUOUS_LABEL ? fieldNameToWords(name) : replaceLabel(label);
}
