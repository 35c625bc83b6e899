/** Decorators for extensions of GraphQL fields, such as costs and REST endpoints. */
import type { GraphQLFieldExtensions } from 'graphql';
import { Extensions } from 'type-graphql';

/**
 * The declared members of `GraphQLFieldExtensions`. Its index signature, which accepts any name, is
 * removed.
 */
type DeclaredFieldExtensions = {
  [
    Name in keyof GraphQLFieldExtensions<unknown, unknown> as string extends Name ? never : Name
  ]: GraphQLFieldExtensions<unknown, unknown>[Name];
};

/**
 * Type-graphql's `@Extensions` for fields with checked names and types, so that a misspelled
 * extension does not compile.
 */
export const FieldExtensions = (
  extensions: DeclaredFieldExtensions,
): MethodDecorator & PropertyDecorator => Extensions(extensions);

/**
 * Declares the typical length of an unpaginated list, for cost estimates (`@listSize` of IBM's cost
 * directives).
 */
export const ListSize = (assumedSize: number) => FieldExtensions(listSizeExtensions(assumedSize));

export const listSizeExtensions = (assumedSize: number) => ({ listSize: { assumedSize } });
