/** Sorts an introspection result by name, so that the documentation explorer lists types and fields alphabetically. */
import type { IntrospectionQuery } from 'graphql';

interface NamedItem {
  readonly name: string;
}

const sortByName = <T extends NamedItem>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Sorts the types and fields of a schema by name. Arguments and enum values keep their order, which is meaningful. */
export function sortIntrospection({ __schema: schema }: IntrospectionQuery): IntrospectionQuery {
  const types = sortByName(schema.types).map((type) => {
    if (type.kind === 'OBJECT' || type.kind === 'INTERFACE')
      return { ...type, fields: sortByName(type.fields) };
    return type.kind === 'INPUT_OBJECT'
      ? { ...type, inputFields: sortByName(type.inputFields) }
      : type;
  });
  return { __schema: { ...schema, types } };
}
