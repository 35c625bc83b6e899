import { Command } from 'commander';
import { migrateDown, migrateUp } from '../database/migrate';
import { operate, say } from './operator';

export const migrateCommand = () =>
  new Command('migrate')
    .description('Bring the database up to date (the server does so at start).')
    .option('--down', 'take the last migration back; its tables are dropped')
    .action(({ down }: { down?: boolean }) =>
      operate(
        async ({ database }) => {
          const names = await (down ? migrateDown(database) : migrateUp(database));
          say(names.length ? `${down ? 'Taken back' : 'Applied'}: ${names.join(', ')}` : 'Nothing to do.');
        },
        { migrate: false },
      ),
    );
