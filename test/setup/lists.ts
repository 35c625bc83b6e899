/** How GraphQL lists the rows of a type: in pages and by conditions, or the whole of a dictionary at once. */
import type { Entity } from '../../src/core/model/fields';
import { resourceOf } from '../../src/core/model/registry';
import { buildGraphQLSchema } from '../../src/graphql/schema';

const listOf = (entity: Entity) => buildGraphQLSchema().getQueryType()!.getFields()[resourceOf(entity)!.many];

export const isListed = (entity: Entity): boolean => listOf(entity) !== undefined;

export const hasPages = (entity: Entity): boolean => listOf(entity)?.args.some(({ name }) => name === 'where') ?? false;
