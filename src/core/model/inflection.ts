/** Inflection: derives labels and nouns from identifiers. */
import { toSnakeCase } from '../../contract/casing';

/** `WeightEntry` → `Weight Entry`. */
export const splitCamelCase = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2');

export const lowerFirst = (name: string) => name[0]!.toLowerCase() + name.slice(1);
export const upperFirst = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/** `createdOn` → `Created on`. */
export const labelFor = (name: string) => upperFirst(toSnakeCase(name).replaceAll('_', ' '));

/** `WeightEntry` → `weight entry`, `DiaryEntry` → `diary entry`. */
export const nounOfTypeName = (name: string) => splitCamelCase(name).toLowerCase();

/** `a weight entry`, `an ingredient`, `a user profile`. */
export const withArticle = (text: string) => `${/^(?!user)[aeiou]/.test(text) ? 'an' : 'a'} ${text}`;
