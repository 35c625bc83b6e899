/** The rows that a row leads to, as SQL: what conditions and orders look through. They are the rows that the relation shows. */
import { reachable, visible } from './access';
import type { Condition } from './conditions';
import type { Context } from './context';
import { childrenOf, fieldOf, fieldsOf, ofKind, type Entity, type Lazy } from './fields';
import { expression, names } from './plan';
import { resourceOf } from './resource';

export interface Relative {
  /** The GraphQL field that shows the rows. */
  name: string;
  target: Lazy;
  many: boolean;
  /** What they are, in lower case. */
  noun: string;
  /** `FROM … WHERE …`: rows `inner` of the target that row `outer` leads to. */
  from(outer: string, inner: string): string;
  /** Conditions that the rows meet to be shown. */
  shown(context: Context): Condition[];
}

const found = new Map<Entity, readonly Relative[]>();

/** To be called once all resources are loaded. */
export function relativesOf(entity: Entity): readonly Relative[] {
  let relatives = found.get(entity);
  if (!relatives) found.set(entity, (relatives = [...referred(entity), ...below(entity)]));
  return relatives;
}

const tableOf = (target: Lazy) => `"${resourceOf(target())!.table}"`;

/** By references and sets of ids. */
const referred = (entity: Entity): Relative[] =>
  fieldsOf(entity).flatMap((field): Relative[] => {
    if (!field.relation) return [];
    const { target, object, link } = field as Required<typeof field>;
    const many = field.relation.many;
    const from = (outer: string, inner: string) => {
      if (!link) {
        const id = expression(field, outer);
        return `FROM ${tableOf(target)} ${inner} WHERE ${inner}."id" = ${many ? `ANY(${id})` : id}`;
      }
      const { table, own, other, via = 'id' } = link;
      return `FROM "${table}" l JOIN ${tableOf(target)} ${inner} ON ${inner}."id" = l."${other}" WHERE l."${own}" = ${outer}."${via}"${ofKind(link, 'l')}`;
    };
    return [{ name: object, target, many, noun: field.label.toLowerCase(), from, shown: (context) => reachable(target(), context) }];
  });

const below = (entity: Entity): Relative[] =>
  childrenOf(entity).map(({ name, target, by, key }) => ({
    name,
    target,
    many: true,
    noun: name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    from: (outer, inner) =>
      `FROM ${tableOf(target)} ${inner} WHERE ${names(fieldOf(target(), by), inner, expression(fieldOf(entity, key), outer))}`,
    shown: (context) => visible(target(), context),
  }));
