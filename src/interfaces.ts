/** One schema, two interfaces: resolvers are written once, and each interface has the part of them that is its own. */
import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import type { GraphQLFieldConfig, GraphQLInputFieldConfig, GraphQLSchema } from 'graphql';

/** Null takes the field out of its type. */
const unlessRest = <F extends GraphQLFieldConfig<any, any> | GraphQLInputFieldConfig>({ extensions }: F): null | undefined =>
  (extensions?.only ?? extensions?.field?.only) === 'rest' ? null : undefined;

/** Without what only REST has a use for, and without the types that nothing else leads to. */
export const publicSchema = (whole: GraphQLSchema): GraphQLSchema =>
  pruneSchema(mapSchema(whole, { [MapperKind.OBJECT_FIELD]: unlessRest, [MapperKind.INPUT_OBJECT_FIELD]: unlessRest }));

export const restSchema = (whole: GraphQLSchema): GraphQLSchema => whole;
