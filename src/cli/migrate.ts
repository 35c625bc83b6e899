import { Command } from 'commander';
import { migrateDown, migrateUp } from '../database/migrate';
import { noteOf, operate, say } from './operator';

export const migrateCommand = () =>
  new Command('migrate')
    .description('Bring the database up to date (the server does so at start).')
    .option('--down', 'take the last migration back; its tables are dropped')
    .action(({ down }: { down?: boolean }) =>
      operate(
        async ({ database, session }) => {
          const names = await (down ? migrateDown(database) : migrateUp(database));
          const detail = `migrate --down: ${names.join(', ')}`;
          // The log itself may be what was taken back.
          if (down && names.length) await noteOf({ kind: 'COMMAND', detail }, session).catch(() => undefined);
          say(names.length ? `${down ? 'Taken back' : 'Applied'}: ${names.join(', ')}` : 'Nothing to do.');
        },
        { migrate: false },
      ),
    );
