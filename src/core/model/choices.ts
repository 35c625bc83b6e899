/** Values to choose from, said once: an enum in GraphQL, stored texts with labels in REST. */
import { registerEnumType } from 'type-graphql';
import type { Choice } from '../../contract/facts';

export interface Choices {
  /** Of the GraphQL enum. */
  readonly name: string;
  readonly description: string;
  readonly all: readonly Choice[];
  /** What type-graphql knows the enum by: stored values by their names. */
  readonly type: Readonly<Record<string, string>>;
}

type Named = readonly [name: string, value: string, label: string | number, description: string];

const known: Choices[] = [];

/** `none` is what REST calls the absence of a value, where it offers that as a choice. */
export function choices(name: string, description: string, named: readonly Named[], { none }: { none?: string } = {}): Choices {
  const type = Object.fromEntries(named.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(named.map(([key, , , meaning]) => [key, { description: meaning }]));
  registerEnumType(type, { name, description, valuesConfig });
  const values = named.map(([, value, label]) => ({ value, label }));
  const made = { name, description, type, all: none === undefined ? values : [{ value: null, label: none }, ...values] };
  known.push(made);
  return made;
}

/** Whether a GraphQL type is one of values to choose from. */
export const isChoices = (name: string): boolean => known.some((one) => one.name === name);
