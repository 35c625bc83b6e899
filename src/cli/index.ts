#!/usr/bin/env node
/**
 * Entry point of the command-line interface. Commands use the embedded PostgreSQL of a running
 * server, or else start PostgreSQL and stop it at the end.
 */
import { Command, CommanderError } from 'commander';
import { ConfigError, printsStackTraces } from '../shared/config';
import { VERSION } from '../shared/version';
import { failOnOutputErrors, ignoreOutputErrors } from '../server/termination';
import { createServeCommand } from './serve';

// `fitgraph serve` keeps running when its terminal is closed and its log can no longer be written.
// Other commands fail if their output cannot be written.
if (process.argv[2] === 'serve') ignoreOutputErrors();
else failOnOutputErrors();

const program = new Command('fitgraph')
  .description(
    'Fitness and nutrition data over GraphQL and REST. Configuration is read from the environment (see docs/configuration.md).',
  )
  .version(VERSION, '-V, --version', 'print the version')
  .exitOverride();

program.addCommand(createServeCommand());

/** Makes a command and its subcommands point to their own help after a usage error. */
function configureHelp(command: Command, fullCommandName: string): void {
  command.showHelpAfterError(
    `(${fullCommandName} --help ${command.commands.length ? 'lists the commands' : 'tells more'})`,
  );

  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    configureHelp(child, `${fullCommandName} ${child.name()}`);
  }
}

async function run(): Promise<void> {
  // `fitgraph serve` stays in memory as the primary of the cluster, so it does not load the other
  // commands.
  if (process.argv[2] !== 'serve') {
    for (const command of (await import('./commands.ts')).createCommands()) {
      program.addCommand(command);
    }
  }

  configureHelp(program, 'fitgraph');
  await program.parseAsync();
}

run().catch(async (error: unknown) => {
  // Commander has already printed the usage error.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  const { message, stack } = error as Error;
  const isExpected =
    error instanceof ConfigError ||
    error instanceof (await import('../engine/declare/errors.ts')).ClientError;

  process.stderr.write(`fitgraph: ${isExpected || !printsStackTraces() ? message : stack}\n`);
  process.exit(1);
});
