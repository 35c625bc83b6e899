/** Choice fields: one declaration registers a GraphQL enum and lists the stored values with their REST labels. */
import type { Choice } from '../../contract/metadata';
import { createEnumOfEntries, type EnumEntry } from './enums';

export interface EnumDefinition<V extends string | number = string | number> {
  readonly name: string;
  /** Maps the names of the enum's values to the stored values. type-graphql identifies the enum by this object. */
  readonly type: Readonly<Record<string, V>>;
}

export interface ChoiceSet extends EnumDefinition<string> {
  readonly restChoices: readonly Choice[];
}

const enumsByName = new Map<string, EnumDefinition>();

/** Registers a GraphQL enum. If its values are numbers, they are the ids of all rows of an immutable table. */
export function registerEnum<V extends string | number>(
  name: string,
  description: string,
  entries: readonly EnumEntry<V>[],
): EnumDefinition<V> {
  const registeredEnum = { name, type: createEnumOfEntries(name, description, entries) };
  enumsByName.set(name, registeredEnum);
  return registeredEnum;
}

type ChoiceEntry = readonly [
  name: string,
  value: string,
  label: string | number,
  description: string,
];

/** Registers the choices of a field. `nullLabel` is REST's label for null; absent if null is not a choice in REST. */
export function registerChoices(
  name: string,
  description: string,
  choiceEntries: readonly ChoiceEntry[],
  { nullLabel }: { nullLabel?: string } = {},
): ChoiceSet {
  const enumEntries = choiceEntries.map(([key, value, , meaning]): EnumEntry<string> => [
    key,
    value,
    meaning,
  ]);
  const restChoices = choiceEntries.map(([, value, label]) => ({ value, label }));
  return {
    ...registerEnum(name, description, enumEntries),
    restChoices:
      nullLabel === undefined ? restChoices : [{ value: null, label: nullLabel }, ...restChoices],
  };
}

export const isRegisteredEnum = (name: string): boolean => enumsByName.has(name);
export const isEnumOfRowIds = (name: string): boolean =>
  Object.values(enumsByName.get(name)?.type ?? {}).some((value) => typeof value === 'number');
