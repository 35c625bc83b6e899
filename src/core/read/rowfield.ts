/** Fields that return an entity's row by its id in another field, for rows that SQL computes: groups and results of analyses. */
import { Ctx, FieldResolver, Info, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import type { Thunk } from '../model/fields';
import { addResolverMethod } from '../model/resolvermethods';
import { loadReferencedRow } from './loaders';

/** Class decorator of a resolver: adds the field `name`, which returns the row whose id is in `idFieldName`. */
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
