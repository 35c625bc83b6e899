/** GraphQL enums, registered together with the descriptions of their values. */
import { registerEnumType } from 'type-graphql';

export type EnumEntry<V> = readonly [name: string, value: V, description: string];

/** Registers an enum and returns an object that maps the names of its values to the values. type-graphql identifies the enum by this object. */
export function createEnumOfEntries<V extends string | number>(
  name: string,
  description: string,
  entries: readonly EnumEntry<V>[],
): Readonly<Record<string, V>> {
  const enumObject = Object.fromEntries(entries.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(
    entries.map(([key, , meaning]) => [key, { description: meaning }]),
  );
  registerEnumType(enumObject, { name, description, valuesConfig });
  return enumObject;
}

/** Registers an enum whose values equal their names. `valueDescriptions` maps each name to its description. */
export const createEnum = <N extends string>(
  name: string,
  description: string,
  valueDescriptions: Readonly<Record<N, string>>,
) =>
  createEnumOfEntries(
    name,
    description,
    Object.entries<string>(valueDescriptions).map(([value, meaning]) => [value, value, meaning]),
  ) as { readonly [K in N]: K };
