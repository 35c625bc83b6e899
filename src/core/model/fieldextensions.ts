/** Decorators for extensions of GraphQL fields, such as costs and REST endpoints. */
import type { GraphQLFieldExtensions } from 'graphql';
import { Extensions } from 'type-graphql';

/** The declared members of `GraphQLFieldExtensions`, without its index signature, which would accept any name. */
type DeclaredFieldExtensions = {
  [
    Name in keyof GraphQLFieldExtensions<unknown, unknown> as string extends Name ? never : Name
  ]: GraphQLFieldExtensions<unknown, unknown>[Name];
};

/** Type-graphql's `@Extensions` for fields, with checked names and types: a misspelled extension does not compile instead of being ignored. */
export const FieldExtensions = (
  extensions: DeclaredFieldExtensions,
): MethodDecorator & PropertyDecorator => Extensions(extensions);

/** Declares the typical length of a list field without pagination, for cost estimates (`@listSize` of IBM's cost directives). */
export const ListSize = (assumedSize: number) => FieldExtensions(listSizeExtensions(assumedSize));

export const listSizeExtensions = (assumedSize: number) => ({ listSize: { assumedSize } });
