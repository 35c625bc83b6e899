/** Decorators for relation fields: references to a parent row, links to other rows through a link table, and child rows. */
import { ID } from 'type-graphql';
import { DataType } from 'sequelize-typescript';
import type { FieldMetadata } from '../../contract/metadata';
import type { EnumDefinition } from './choices';
import {
  registerChildRowsField,
  defineField,
  type Entity,
  type FieldOptions,
  type Thunk,
  type NullableIf,
  type TypedDecorator,
} from './fields';
import type { LinkTable } from './linktable';
import { toSnakeCase } from '../../contract/casing';
import { labelFor } from './inflection';
import { resourceOf } from './registry';

function relationMetadata(
  target: Thunk,
  objectFieldName: string,
  isToMany: boolean,
): NonNullable<FieldMetadata['relation']> {
  return {
    isToMany,
    objectFieldName,
    get typeName() {
      return target().name;
    },
    get isOwned() {
      return resourceOf(target())?.isOwned ?? false;
    },
  };
}

/** Declares a reference to a parent row. On `workoutId` it creates the column, the id field and the object field `workout`. */
export const Ref = <const Nullable extends boolean = false>(
  target: Thunk,
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<number, Nullable>> => {
  return (prototype: object, name: string) => {
    const objectFieldName = String(name).replace(/Id$/, '');
    const description =
      options.description ?? `The \`id\` of the row that \`${objectFieldName}\` shows.`;
    defineField('relation', () => ID, DataType.INTEGER, {
      ...options,
      description,
      target,
      objectFieldName,
      relation: relationMetadata(target, objectFieldName, false),
    })(prototype, name);
  };
};

/**
 * Declares the reference of an owned row to its owner. The server sets it on creation and never accepts it as input. GraphQL omits it, because it
 * returns only the viewer's own rows.
 */
export const Owner = (target: Thunk, options: FieldOptions = {}): TypedDecorator<number> =>
  Ref(target, {
    label: 'User',
    description: 'The `id` of the user whose row it is.',
    readOnly: true,
    exclusiveTo: 'rest',
    ...options,
  });

export interface LinkOptions extends FieldOptions {
  assumedSize: number;
  /** The GraphQL field that returns the linked rows. */
  objectFieldName: string;
  link?: LinkTable;
  /** Enum that replaces the linked rows in GraphQL; only REST returns the rows. */
  enum?: EnumDefinition;
}

/** Declares an id set: the ids of linked rows, in the default order of their type, stored in a link table or computed. */
export const Links =
  (target: Thunk, options: LinkOptions): TypedDecorator<number[]> =>
  (prototype: object, name: string) => {
    const description =
      options.description ??
      `Ids of the ${toSnakeCase(options.objectFieldName).replaceAll('_', ' ')}, in the default order of their type.`;
    const type = () => options.enum?.type ?? ID;
    defineField(
      'relation',
      type,
      undefined,
      {
        ...options,
        description,
        target,
        relation: relationMetadata(target, options.objectFieldName, true),
      },
      true,
    )(prototype, name);
  };

/**
 * Declares child rows. A connection paginates them, `assumedSize` is their typical number, and parts are saved with their parent row and share its
 * version.
 */
export const Children =
  (
    target: Thunk,
    referenceFieldName: string,
    options: (
      | { isConnection: true; assumedSize?: undefined }
      | { isConnection?: undefined; assumedSize: number }
    ) & {
      isSavedWithParent?: boolean;
      readOnly?: boolean;
      keyFieldName?: string;
      order?: string[];
      description?: string;
    },
  ): PropertyDecorator =>
  (prototype, propertyKey) => {
    const entity = prototype.constructor as Entity;
    const name = String(propertyKey);
    const childRowsField = {
      name,
      target,
      referenceFieldName,
      keyFieldName: options.keyFieldName ?? 'id',
      isConnection: options.isConnection ?? false,
      isSavedWithParent: options.isSavedWithParent ?? false,
      assumedSize: options.assumedSize,
      readOnly: options.readOnly ?? false,
      order: options.order ?? [],
      description: options.description ?? `${labelFor(name)} of this row.`,
    };
    registerChildRowsField(entity, childRowsField);
  };
