/** Adds resolver methods to a class at startup, decorated by type-graphql as if they were written in its source. */
import { Extensions, type ClassType } from 'type-graphql';

export type ResolverParameterDecorator = (prototype: object, property: string, index: number) => void;

export function addResolverMethod(
  target: ClassType,
  name: string,
  body: (...args: never[]) => unknown,
  parameters: readonly ResolverParameterDecorator[],
  decorator: MethodDecorator,
  extensions?: object,
) {
  Object.defineProperty(target.prototype, name, { value: body, configurable: true, writable: true });
  parameters.forEach((parameter, index) => parameter(target.prototype, name, index));
  decorator(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name)!);
  if (extensions) Extensions(extensions as Record<string, unknown>)(target.prototype, name);
}
