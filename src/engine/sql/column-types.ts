/** SQL types of parameters, by the kind of the field. The type of other kinds is `text`. */
import type { FieldKind } from '../../shared/metadata';

const SQL_TYPES: Partial<Record<FieldKind, string>> = {
  integer: 'int',
  relation: 'int',
  decimal: 'numeric',
  date: 'date',
  time: 'time',
  datetime: 'timestamptz',
  boolean: 'boolean',
  uuid: 'uuid',
};

export const sqlType = ({ kind }: { kind: FieldKind }): string => SQL_TYPES[kind] ?? 'text';
