/** Counts the objects that resolvers return, in the meter of the request. */
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

/** Meters a field with one object. It is counted before it is loaded, so that waiting loads are bounded, too. */
const meterObjectResolver =
  (resolve: Resolver, isRootField: boolean): Resolver =>
  (source, args, context, info) => {
    const { meter } = context;
    if (!meter) return resolve(source, args, context, info);
    if (!meter.countObjects(1, info)) return meter.rejectAborted();
    const object = isRootField
      ? meter.resolveRootField(info, () => resolve(source, args, context, info))
      : resolve(source, args, context, info);
    return meter.passOnObject(object, info);
  };

/** Meters a list. If the row has the ids of its objects in `idsField`, they are counted before they are loaded. */
const meterListResolver =
  (resolve: Resolver, isRootField: boolean, idsField: string | undefined): Resolver =>
  (source, args, context, info) => {
    const { meter } = context;
    if (!meter) return resolve(source, args, context, info);
    const ids =
      idsField === undefined
        ? undefined
        : (source as Record<string, readonly unknown[] | null>)[idsField];
    if (!meter.countList(ids?.length ?? 1, info)) return meter.rejectAborted();
    const passOn = (list: unknown) => {
      if (!Array.isArray(list)) return list;
      return meter.countObjects(ids ? 0 : list.length, info)
        ? meter.passOnList(list, info)
        : meter.rejectAborted();
    };
    const resolveField = () => resolve(source, args, context, info);
    const list = isRootField
      ? meter.resolveRootField(info, resolveField)
      : meter.resolveInSlice(ids?.length ?? 1, resolveField);
    return list instanceof Promise ? list.then(passOn) : passOn(list);
  };

/** Meters the fields of a schema that return lists of objects or load an object. Introspection needs no limit, because its cost bounds its size. */
export function meterResolvers(schema: GraphQLSchema): GraphQLSchema {
  const rootTypes: readonly unknown[] = [schema.getQueryType(), schema.getMutationType()];
  const subscriptionType = schema.getSubscriptionType();
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type) && type !== subscriptionType)
      for (const field of Object.values(type.getFields()))
        if (isCompositeType(getNamedType(field.type))) {
          const resolve = field.resolve as Resolver | undefined;
          const isRootField = rootTypes.includes(type);
          if (isListType(getNullableType(field.type)))
            field.resolve = meterListResolver(
              resolve ?? (defaultFieldResolver as Resolver),
              isRootField,
              field.extensions.idsField,
            );
          else if (resolve) field.resolve = meterObjectResolver(resolve, isRootField);
        }
  return schema;
}
