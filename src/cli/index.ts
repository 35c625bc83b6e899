#!/usr/bin/env node
/** The commands of the operator. They work beside a running server, with its embedded database; without one they start and stop it. */
import { Command, CommanderError } from 'commander';
import { ConfigError, wantsStacks } from '../platform/config';
import { VERSION } from '../platform/version';
import { main as serveForever } from '../index';

const program = new Command('fitgraph')
  .description('Fitness and nutrition data over GraphQL and REST. Configuration is read from the environment (see docs/configuration.md).')
  .version(VERSION, '-V, --version', 'print the version')
  .exitOverride();

program.command('serve').description('Start the server, as `npm start` does.').action(serveForever);
/** Whoever mistypes is told where to read on: of the command that they mean. */
function inherit(command: Command, names: string): void {
  command.showHelpAfterError(`(${names} --help ${command.commands.length ? 'lists the commands' : 'tells more'})`);
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child, `${names} ${child.name()}`);
  }
}

async function run(): Promise<void> {
  // The process that watches over the workers stays, and stays small.
  if (process.argv[2] !== 'serve') for (const command of (await import('./commands.ts')).commands()) program.addCommand(command);
  inherit(program, 'fitgraph');
  await program.parseAsync();
}

run().catch(async (error: unknown) => {
  // Commander has said already what was wrong with the arguments.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  const { message, stack } = error as Error;
  const known = error instanceof ConfigError || error instanceof (await import('../core/model/errors.ts')).KnownError;
  process.stderr.write(`fitgraph: ${known || !wantsStacks() ? message : stack}\n`);
  process.exit(1);
});
