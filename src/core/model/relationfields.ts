/** Relations, said once as fields are: parents, links and what hangs below. */
import { ID } from 'type-graphql';
import { DataType } from 'sequelize-typescript';
import type { FieldFact } from '../../contract/facts';
import type { Enum } from './choices';
import { addChild, define, type Entity, type FieldOptions, type Lazy, type Link, type OrNull, type Typed } from './fields';
import { snake } from '../../contract/casing';
import { label } from './inflection';
import { resourceOf } from './registry';

function relation(target: Lazy, object: string, many: boolean): NonNullable<FieldFact['relation']> {
  return {
    many,
    object,
    get type() {
      return target().name;
    },
    get owned() {
      return resourceOf(target())?.owned ?? false;
    },
  };
}

/** A parent, written on its id: `workoutId` makes the column, the id field and the object field `workout`. */
export const Ref = <const O extends FieldOptions>(target: Lazy, o: O = {} as O): Typed<OrNull<number, O>> => {
  return (prototype: object, name: string) => {
    const object = String(name).replace(/Id$/, '');
    const note = o.note ?? `The \`id\` of the row that \`${object}\` shows.`;
    define('relation', () => ID, DataType.INTEGER, { ...o, note, target, object, relation: relation(target, object, false) })(
      prototype,
      name,
    );
  };
};

/** The owner of the row: set at creation, never accepted. Every owned table has it; GraphQL shows nobody's rows but the viewer's, and so not whose. */
export const Owner = (target: Lazy, o: FieldOptions = {}): Typed<number> =>
  Ref(target, { label: 'User', note: 'The `id` of the user whose row it is.', readOnly: true, only: 'rest', ...o });

export interface LinkOptions extends FieldOptions {
  /** The GraphQL field that shows the objects. */
  object: string;
  link?: Link;
  /** GraphQL has names in place of the ids, and only REST shows the objects. */
  enum?: Enum;
}

/** A set of other rows by their ids, in the default order of their type, kept in a link table or worked out. */
export const Links =
  (target: Lazy, o: LinkOptions): Typed<number[]> =>
  (prototype: object, name: string) => {
    const note = o.note ?? `Ids of the ${snake(o.object).replaceAll('_', ' ')}, in the default order of their type.`;
    const type = () => o.enum?.type ?? ID;
    define('relation', type, undefined, { ...o, note, target, relation: relation(target, o.object, true) }, true)(prototype, name);
  };

/**
 * Rows below this one. `connection` where they can grow without bound; `size`: how many there are, most often; `part` where this row is saved with
 * them, and its version covers them.
 */
export const Children =
  (
    target: Lazy,
    by: string,
    o: { connection?: boolean; part?: boolean; size?: number; readOnly?: boolean; key?: string; order?: string[]; help?: string } = {},
  ): PropertyDecorator =>
  (prototype, property) => {
    const entity = prototype.constructor as Entity;
    const name = String(property);
    const meta = {
      name,
      target,
      by,
      key: o.key ?? 'id',
      connection: o.connection ?? false,
      part: o.part ?? false,
      size: o.size,
      readOnly: o.readOnly ?? false,
      order: o.order ?? [],
      description: o.help ?? `${label(name)} of this row.`,
    };
    addChild(entity, meta);
  };
