/** GraphQL enums, registered together with the descriptions of their values. */
import { registerEnumType } from 'type-graphql';

export type EnumEntry<V> = readonly [name: string, value: V, description: string];

/**
 * Registers an enum. The result maps names of enum values to values; type-graphql identifies the
 * enum by this object.
 */
export function createEnumFromEntries<V extends string | number>(
  name: string,
  description: string,
  entries: readonly EnumEntry<V>[],
): Readonly<Record<string, V>> {
  const enumObject = Object.fromEntries(entries.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(
    entries.map(([key, , valueDescription]) => [key, { description: valueDescription }]),
  );

  registerEnumType(enumObject, { name, description, valuesConfig });
  return enumObject;
}

/** Registers an enum whose values equal their names. */
export const createEnum = <N extends string>(
  name: string,
  description: string,
  valueDescriptions: Readonly<Record<N, string>>,
) =>
  createEnumFromEntries(
    name,
    description,
    Object.entries<string>(valueDescriptions).map(([value, valueDescription]) => [
      value,
      value,
      valueDescription,
    ]),
  ) as { readonly [K in N]: K };
