/**
 * Converts names between camelCase (code, GraphQL), snake_case (database, REST) and CONSTANT_CASE
 * (enums).
 */

export const toSnakeCase = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const toConstantCase = (name: string) => toSnakeCase(name).toUpperCase();

export const toCamelCase = (name: string) =>
  name.replace(/_[a-z]/g, (letter) => letter[1]!.toUpperCase());
