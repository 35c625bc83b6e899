/** Methods made at start, with type-graphql's own decorators. */
import { Extensions, type ClassType } from 'type-graphql';

/** type-graphql's parameter decorators. */
export type Parameter = (prototype: object, property: string, index: number) => void;

/** Puts a method on a class as if it had been written there, so that type-graphql's decorators can be used on it. */
export function method(
  target: ClassType,
  name: string,
  body: (...args: never[]) => unknown,
  parameters: readonly Parameter[],
  decorator: MethodDecorator,
  facts?: object,
) {
  Object.defineProperty(target.prototype, name, { value: body, configurable: true, writable: true });
  parameters.forEach((parameter, index) => parameter(target.prototype, name, index));
  decorator(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name)!);
  if (facts) Extensions(facts as Record<string, unknown>)(target.prototype, name);
}
