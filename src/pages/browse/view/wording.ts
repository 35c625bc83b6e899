/** What people call fields, where the name that programs know is not it. */
import type { FieldFact } from '../../../contract/facts';
import { label as labelled, upperFirst } from '../../../core/model/inflection';

/** Of several dates nobody knows which one is meant. */
const DULL = 'Date';

/** By the name of the field, where several share a label. */
const BY_NAME: Readonly<Record<string, string>> = {
  workHours: 'Hours of work',
  workIntensity: 'Intensity of work',
  sportHours: 'Hours of sport',
  sportIntensity: 'Intensity of sport',
  freetimeHours: 'Hours of free time',
  freetimeIntensity: 'Intensity of free time',
};

const BY_LABEL: Readonly<Record<string, string>> = {
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

const worded = (label: string): string => BY_LABEL[label] ?? label;

/** Of what a type calls this. */
export const wordsOf = (name: string): string => worded(labelled(name));

/** What a way to ask is called: `Get log overview` is for programs. */
export const questionOf = (name: string): string => upperFirst(name.replace(/^Get /, ''));

/** A relation is called as what it leads to; what a model calls it may be about its id. */
export function labelOf({ relation, label, name }: FieldFact): string {
  if (relation) return wordsOf(relation.object);
  return BY_NAME[name] ?? (label === DULL ? wordsOf(name) : worded(label));
}
