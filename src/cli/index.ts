#!/usr/bin/env node
/** Entry point of the command-line interface. Commands use the embedded PostgreSQL of a running server; without one, they start and stop it. */
import { Command, CommanderError } from 'commander';
import { ConfigError, showsStackTraces } from '../platform/config';
import { VERSION } from '../platform/version';
import { failOnOutputErrors, ignoreClosedStdout } from '../server/termination';
import { serve } from './serve';

// The server outlives its terminal, and keeps running if its log cannot be written.
if (process.argv[2] === 'serve') ignoreClosedStdout();
else failOnOutputErrors();

const program = new Command('fitgraph')
  .description('Fitness and nutrition data over GraphQL and REST. Configuration is read from the environment (see docs/configuration.md).')
  .version(VERSION, '-V, --version', 'print the version')
  .exitOverride();

program.addCommand(serve());

/** Makes a command and its subcommands point to their own help after a usage error. */
function configureHelp(command: Command, names: string): void {
  command.showHelpAfterError(`(${names} --help ${command.commands.length ? 'lists the commands' : 'tells more'})`);
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    configureHelp(child, `${names} ${child.name()}`);
  }
}

async function run(): Promise<void> {
  // The process of `serve` runs permanently as the supervisor. It does not load the other commands, to save memory.
  if (process.argv[2] !== 'serve') for (const command of (await import('./commands.ts')).commands()) program.addCommand(command);
  configureHelp(program, 'fitgraph');
  await program.parseAsync();
}

run().catch(async (error: unknown) => {
  // Commander has already printed the usage error.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  const { message, stack } = error as Error;
  const isExpected = error instanceof ConfigError || error instanceof (await import('../core/model/errors.ts')).ClientError;
  process.stderr.write(`fitgraph: ${isExpected || !showsStackTraces() ? message : stack}\n`);
  process.exit(1);
});
