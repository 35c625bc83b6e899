/** What the database notes of every owned row (`database/stamps.ts`). GraphQL shows it; REST's `ETag` is made of the version. */
import { literal } from 'sequelize';
import { Column, DataType } from 'sequelize-typescript';
import { Computed, Moment, type Entity } from './fields';

export const VERSION = 'version';

const noted = { readOnly: true, automatic: true, only: 'graphql' } as const;

/** Adds the fields to the type of an owned row. */
export function stamp({ prototype }: Entity): void {
  const add = (name: string, field: unknown) => (field as PropertyDecorator)(prototype as object, name);
  add('createdAt', Moment({ label: 'Created', note: 'Time of creation.', ...noted }));
  add('updatedAt', Moment({ label: 'Updated', note: 'When the row, its parts or its id lists last changed.', ...noted }));
  add(
    VERSION,
    Computed<string>(() => String, {
      label: 'Version',
      note: 'Opaque; changes with the row, its parts and its id lists. For `ifVersion`.',
      hidden: true,
      sql: (alias) => `${alias}."${VERSION}"`,
    }),
  );
  add(VERSION, Column({ type: DataType.UUID, allowNull: false, field: VERSION, defaultValue: literal('gen_random_uuid()') }));
}
