/** Values to choose from, said once: an enum in GraphQL; in REST what is stored, texts with labels or ids. */
import { registerEnumType } from 'type-graphql';
import type { Choice } from '../../contract/facts';

export interface Enum<V extends string | number = string | number> {
  readonly name: string;
  /** What type-graphql knows the enum by: stored values by their names. */
  readonly type: Readonly<Record<string, V>>;
}

export interface Choices extends Enum<string> {
  readonly all: readonly Choice[];
}

type Named<V> = readonly [name: string, value: V, description: string];

const known = new Map<string, Enum>();

/** Of numbers: the ids of all rows of a table that does not change. */
export function enumOf<V extends string | number>(name: string, description: string, named: readonly Named<V>[]): Enum<V> {
  const type = Object.fromEntries(named.map(([key, value]) => [key, value]));
  const valuesConfig = Object.fromEntries(named.map(([key, , meaning]) => [key, { description: meaning }]));
  registerEnumType(type, { name, description, valuesConfig });
  const made = { name, type };
  known.set(name, made);
  return made;
}

type Labelled = readonly [name: string, value: string, label: string | number, description: string];

/** `none` is what REST calls the absence of a value, where it offers that as a choice. */
export function choices(name: string, description: string, labelled: readonly Labelled[], { none }: { none?: string } = {}): Choices {
  const named = labelled.map(([key, value, , meaning]): Named<string> => [key, value, meaning]);
  const values = labelled.map(([, value, label]) => ({ value, label }));
  return { ...enumOf(name, description, named), all: none === undefined ? values : [{ value: null, label: none }, ...values] };
}

/** Whether a GraphQL type is one of values to choose from. */
export const isChoices = (name: string): boolean => known.has(name);
/** Whether the names stand for ids. */
export const isOfIds = (name: string): boolean => Object.values(known.get(name)?.type ?? {}).some((value) => typeof value === 'number');
