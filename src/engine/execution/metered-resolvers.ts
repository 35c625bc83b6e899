/** Wraps resolvers so that the meter of the request counts their objects. */
import {
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql';
import type { Context } from '../context';

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Meters a field that returns one object. Counts the object before it is loaded, so that the number
 * of pending loads is limited, too.
 */
const meterObjectResolver =
  (resolve: Resolver, isRootField: boolean): Resolver =>
  (source, args, context, info) => {
    const { meter } = context;

    if (!meter) return resolve(source, args, context, info);
    if (!meter.countObjects(1, info)) return meter.rejectAborted();
    const resolveField = () => resolve(source, args, context, info);
    const object = isRootField ? meter.resolveRootField(info, resolveField) : resolveField();

    return meter.deliverObject(object, info);
  };

/**
 * Meters a field that returns a list. If the row has the ids of the listed objects, in its field
 * `idsField`, they are counted before they are loaded.
 */
const meterListResolver =
  (resolve: Resolver, isRootField: boolean, idsField: string | undefined): Resolver =>
  (source, args, context, info) => {
    const { meter } = context;

    if (!meter) return resolve(source, args, context, info);
    const row = source as Record<string, readonly unknown[] | null>;
    const ids = idsField === undefined ? undefined : row[idsField];

    if (!meter.countList(ids?.length ?? 1, info)) return meter.rejectAborted();

    const deliver = (list: unknown) => {
      if (!Array.isArray(list)) return list;

      const uncountedObjects = ids ? 0 : list.length;

      if (!meter.countObjects(uncountedObjects, info)) return meter.rejectAborted();

      return meter.deliverList(list, info);
    };

    const resolveField = () => resolve(source, args, context, info);
    const list = isRootField
      ? meter.resolveRootField(info, resolveField)
      : meter.resolveInSlice(ids?.length ?? 1, resolveField);

    return list instanceof Promise ? list.then(deliver) : deliver(list);
  };

/**
 * Meters the fields of a schema that return objects. Introspection needs no meter, because its cost
 * bounds its size.
 */
export function meterResolvers(schema: GraphQLSchema): GraphQLSchema {
  const rootTypes: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const subscriptionType = schema.getSubscriptionType();

  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type) || type === subscriptionType) continue;
    const isRootType = rootTypes.includes(type);

    for (const field of Object.values(type.getFields())) {
      if (!isCompositeType(getNamedType(field.type))) continue;
      const resolve = field.resolve as Resolver | undefined;

      if (isListType(getNullableType(field.type))) {
        field.resolve = meterListResolver(
          resolve ?? (defaultFieldResolver as Resolver),
          isRootType,
          field.extensions.idsField,
        );
      } else if (resolve) field.resolve = meterObjectResolver(resolve, isRootType);
    }
  }

  return schema;
}
