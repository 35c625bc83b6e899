/**
 * Audit columns of owned resources (`createdAt`, `updatedAt`, row `version`), set by database
 * triggers, and row versions of public ones. The version is also REST's `ETag`.
 */
import { literal } from 'sequelize';
import { Column, DataType } from 'sequelize-typescript';
import { ComputedField, DateTimeField, type Entity } from './fields';

export const VERSION_FIELD = 'version';

const versionOptions = {
  label: 'Version',
  description: 'Opaque; changes with the row, its parts and its id lists. For `ifVersion`.',
  hiddenInRest: true,
} as const;
const auditFieldOptions = { readOnly: true, setByDatabase: true, exclusiveTo: 'graphql' } as const;

export function addAuditFields({ prototype }: Entity): void {
  const addField = (name: string, decorator: unknown) =>
    (decorator as PropertyDecorator)(prototype as object, name);

  addField(
    'createdAt',
    DateTimeField({ label: 'Created', description: 'Time of creation.', ...auditFieldOptions }),
  );
  addField(
    'updatedAt',
    DateTimeField({
      label: 'Updated',
      description: 'When the row, its parts or its id lists last changed.',
      ...auditFieldOptions,
    }),
  );
  addField(
    VERSION_FIELD,
    ComputedField<string>(() => String, {
      ...versionOptions,
      sql: (alias) => `${alias}."${VERSION_FIELD}"`,
    }),
  );
  addField(
    VERSION_FIELD,
    Column({
      type: DataType.UUID,
      allowNull: false,
      field: VERSION_FIELD,
      defaultValue: literal('gen_random_uuid()'),
    }),
  );
}

/**
 * Adds the row version of a public resource: the transaction that has written the row, and its
 * place in the table, which every update changes.
 */
export const addPublicVersionField = ({ prototype }: Entity): void =>
  (
    ComputedField<string>(() => String, {
      ...versionOptions,
      sql: (alias) => `(${alias}."xmin"::text || ${alias}."ctid"::text)`,
    }) as PropertyDecorator
  )(prototype as object, VERSION_FIELD);
