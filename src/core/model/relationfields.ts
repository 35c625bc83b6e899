/** Decorators for relation fields: references to a parent row, links to other rows through a link table, and child rows. */
import { ID } from 'type-graphql';
import { DataType } from 'sequelize-typescript';
import type { FieldMetadata } from '../../contract/metadata';
import type { EnumDefinition } from './choices';
import { addChild, defineField, type Entity, type FieldOptions, type Thunk, type NullableIf, type TypedDecorator } from './fields';
import type { LinkTable } from './linktable';
import { toSnakeCase } from '../../contract/casing';
import { labelFor } from './inflection';
import { resourceOf } from './registry';

function relationMetadata(target: Thunk, object: string, many: boolean): NonNullable<FieldMetadata['relation']> {
  return {
    isToMany: many,
    rowField: object,
    get type() {
      return target().name;
    },
    get isOwned() {
      return resourceOf(target())?.isOwned ?? false;
    },
  };
}

/** Declares a reference to a parent row. On `workoutId` it creates the column, the id field and the object field `workout`. */
export const Ref = <const O extends FieldOptions>(target: Thunk, o: O = {} as O): TypedDecorator<NullableIf<number, O>> => {
  return (prototype: object, name: string) => {
    const object = String(name).replace(/Id$/, '');
    const note = o.description ?? `The \`id\` of the row that \`${object}\` shows.`;
    defineField('relation', () => ID, DataType.INTEGER, {
      ...o,
      description: note,
      target,
      rowField: object,
      relation: relationMetadata(target, object, false),
    })(prototype, name);
  };
};

/**
 * Declares the owner reference of owned tables. It is set on creation and never accepted as input. GraphQL omits it, because it returns only the
 * viewer's own rows.
 */
export const Owner = (target: Thunk, o: FieldOptions = {}): TypedDecorator<number> =>
  Ref(target, { label: 'User', description: 'The `id` of the user whose row it is.', readOnly: true, exclusiveTo: 'rest', ...o });

export interface LinkOptions extends FieldOptions {
  /** Typical number of linked rows, for cost estimates. */
  size: number;
  /** The GraphQL field that returns the linked rows. */
  rowField: string;
  link?: LinkTable;
  /** Enum that replaces the linked rows in GraphQL; only REST returns the rows. */
  enum?: EnumDefinition;
}

/** Declares an id set: the ids of linked rows, in the default order of their type. It is stored in a link table or computed. */
export const Links =
  (target: Thunk, o: LinkOptions): TypedDecorator<number[]> =>
  (prototype: object, name: string) => {
    const note = o.description ?? `Ids of the ${toSnakeCase(o.rowField).replaceAll('_', ' ')}, in the default order of their type.`;
    const type = () => o.enum?.type ?? ID;
    defineField(
      'relation',
      type,
      undefined,
      { ...o, description: note, target, relation: relationMetadata(target, o.rowField, true) },
      true,
    )(prototype, name);
  };

/**
 * Declares child rows. `connection` paginates them, `size` is their typical number, and a `part` is saved with its parent row and shares its version.
 */
export const Children =
  (
    target: Thunk,
    referenceField: string,
    o: ({ connection: true; size?: undefined } | { connection?: undefined; size: number }) & {
      part?: boolean;
      readOnly?: boolean;
      key?: string;
      order?: string[];
      description?: string;
    },
  ): PropertyDecorator =>
  (prototype, property) => {
    const entity = prototype.constructor as Entity;
    const name = String(property);
    const meta = {
      name,
      target,
      referenceField,
      key: o.key ?? 'id',
      connection: o.connection ?? false,
      part: o.part ?? false,
      size: o.size,
      readOnly: o.readOnly ?? false,
      order: o.order ?? [],
      description: o.description ?? `${labelFor(name)} of this row.`,
    };
    addChild(entity, meta);
  };
