/** The commands that read the schema and open the database. */
import { importCommand } from './import';
import { migrateCommand } from './migrate';
import { schemaCommand } from './schema';
import { seedCommand } from './seed';
import { userCommand } from './user';

export { KnownError } from '../core/errors';

export const commands = () => [migrateCommand(), seedCommand(), userCommand(), importCommand(), schemaCommand()];
