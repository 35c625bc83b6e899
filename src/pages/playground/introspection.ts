/** The schema as the documentation lists it: by name, so that a reader knows where to look. */
import type { IntrospectionQuery } from 'graphql';

interface Named {
  readonly name: string;
}

const byName = <T extends Named>(all: readonly T[]): T[] => [...all].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Arguments and values of enums stay as they are: their order has a meaning. */
export function listedByName({ __schema: schema }: IntrospectionQuery): IntrospectionQuery {
  const types = byName(schema.types).map((type) => {
    if (type.kind === 'OBJECT' || type.kind === 'INTERFACE') return { ...type, fields: byName(type.fields) };
    return type.kind === 'INPUT_OBJECT' ? { ...type, inputFields: byName(type.inputFields) } : type;
  });
  return { __schema: { ...schema, types } };
}
