/** Inflection: derives labels and nouns from identifiers. */
import { toSnakeCase } from '../../shared/casing';

export const splitCamelCase = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2');

export const lowerFirst = (name: string) => name[0]!.toLowerCase() + name.slice(1);
export const upperFirst = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/** Derives a label from the name of a field: `createdOn` → `Created on`. */
export const labelFor = (name: string) => upperFirst(toSnakeCase(name).replaceAll('_', ' '));

/** Derives a noun from the name of a type or a relation: `TrainingDay` → `training day`. */
export const nounOf = (name: string) => splitCamelCase(name).toLowerCase();

/** Prepends the indefinite article: `a weight entry`, `an ingredient`, `a user profile`. */
export const withArticle = (noun: string) =>
  `${/^(?!user)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
