/** The commands that read the schema and open the database. */
import { auditCommand } from './audit';
import { backupCommand } from './backup';
import { doctorCommand } from './doctor';
import { importCommand } from './import';
import { migrateCommand } from './migrate';
import { restoreCommand } from './restore';
import { schemaCommand } from './schema';
import { seedCommand } from './seed';
import { upgradeCommand } from './upgrade';
import { userCommand } from './user';

export { KnownError } from '../core/model/errors';

export const commands = () => [
  migrateCommand(),
  seedCommand(),
  userCommand(),
  importCommand(),
  backupCommand(),
  restoreCommand(),
  upgradeCommand(),
  doctorCommand(),
  auditCommand(),
  schemaCommand(),
];
