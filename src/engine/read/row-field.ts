/**
 * Fields that return the row whose id is in another field, for groups and analyses that SQL
 * computes.
 */
import { Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import type { Thunk } from '../declare/fields';
import { addResolverMethod } from '../declare/resolver-methods';
import { loadReferencedRow } from './loaders';

/**
 * Class decorator of a resolver: adds the field `name` with the row whose id is in `idFieldName`.
 */
export const RowField =
  (
    name: string,
    idFieldName: string,
    entity: Thunk,
    options: { description: string; nullable?: boolean },
  ) =>
  (resolver: ClassType): void =>
    addResolverMethod(
      resolver,
      name,
      (row: Row, context: Context, info: GraphQLResolveInfo) =>
        loadReferencedRow(entity(), row[idFieldName], context, info),
      [Root(), Ctx(), Info()],
      FieldResolver(entity, options),
    );
