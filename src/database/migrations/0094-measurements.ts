/** Measurements of the body, of kinds that each user chooses. */
import type { Migration } from '../migrate';
import { createOwnedTableMigration } from '../owned-table';

export const oldestVersion = '0.4.0';

const TABLES = [
  createOwnedTableMigration('measurement_category', {
    columns: {
      name: 'varchar(100) COLLATE "C" NOT NULL',
      unit: 'varchar(50) COLLATE "C" NOT NULL',
    },
    uniqueColumns: ['name'],
    indexes: [['name', 'id'], ['unit']],
  }),
  createOwnedTableMigration('measurement', {
    columns: {
      category_id: 'integer NOT NULL',
      date: 'timestamptz(6) NOT NULL',
      value: 'numeric(8, 3) NOT NULL',
      notes: `varchar(100) COLLATE "C" NOT NULL DEFAULT ''`,
    },
    parentTables: { category_id: 'measurement_category' },
    indexes: [['date DESC', 'id'], ['value']],
  }),
];

export const up: Migration = async (query) => {
  for (const table of TABLES) await table.up(query);
};

export const down: Migration = async (query) => {
  for (const table of [...TABLES].reverse()) await table.down(query);
};
