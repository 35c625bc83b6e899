/**
 * Adds resolver methods to a class at startup, decorated by type-graphql as if they were written in
 * its source.
 */
import { Extensions, type ClassType } from 'type-graphql';

export type ResolverParameterDecorator = (
  prototype: object,
  propertyName: string,
  index: number,
) => void;

export function addResolverMethod(
  target: ClassType,
  name: string,
  body: (...args: never[]) => unknown,
  parameterDecorators: readonly ResolverParameterDecorator[],
  methodDecorator: MethodDecorator,
  extensions?: object,
) {
  Object.defineProperty(target.prototype, name, {
    value: body,
    configurable: true,
    writable: true,
  });
  parameterDecorators.forEach((parameterDecorator, index) =>
    parameterDecorator(target.prototype, name, index),
  );
  methodDecorator(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name)!);
  if (extensions) Extensions(extensions as Record<string, unknown>)(target.prototype, name);
}
