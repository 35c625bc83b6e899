/**
 * Choices of a field: one declaration registers a GraphQL enum and lists the stored values with
 * their REST labels.
 */
import type { Choice } from '../../shared/metadata';
import { createEnumFromEntries, type EnumEntry } from './enums';

export interface EnumDefinition<V extends string | number = string | number> {
  readonly name: string;

  /**
   * Maps names of enum values to stored values. type-graphql identifies the enum by this object.
   */
  readonly type: Readonly<Record<string, V>>;
}

export interface ChoiceSet extends EnumDefinition<string> {
  readonly restChoices: readonly Choice[];
}

const enumsByName = new Map<string, EnumDefinition>();

/** Registers a GraphQL enum. Numeric values are the ids of all rows of an immutable table. */
export function registerEnum<V extends string | number>(
  name: string,
  description: string,
  entries: readonly EnumEntry<V>[],
): EnumDefinition<V> {
  const registeredEnum = { name, type: createEnumFromEntries(name, description, entries) };

  enumsByName.set(name, registeredEnum);
  return registeredEnum;
}

type ChoiceEntry = readonly [
  name: string,
  value: string,
  label: string | number,
  description: string,
];

/** Registers the choices of a field. With a `nullLabel`, null is a choice in REST. */
export function registerChoices(
  name: string,
  description: string,
  choiceEntries: readonly ChoiceEntry[],
  { nullLabel }: { nullLabel?: string } = {},
): ChoiceSet {
  const enumEntries = choiceEntries.map(([key, value, , valueDescription]): EnumEntry<string> => [
    key,
    value,
    valueDescription,
  ]);
  const restChoices = choiceEntries.map(([, value, label]) => ({ value, label }));

  return {
    ...registerEnum(name, description, enumEntries),
    restChoices:
      nullLabel === undefined ? restChoices : [{ value: null, label: nullLabel }, ...restChoices],
  };
}

export const isRegisteredEnum = (name: string): boolean => enumsByName.has(name);
