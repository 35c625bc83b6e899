/** Process termination: one-line errors, termination signals, and a time limit for the shutdown. */
import { ConfigError, printsStackTraces } from '../shared/config';

/** Settings to blame if the server cannot listen, by error code. */
const SETTING_BY_ERROR_CODE: Record<string, string> = {
  EADDRINUSE: 'PORT',
  EACCES: 'PORT',
  EADDRNOTAVAIL: 'HOST',
  ENOTFOUND: 'HOST',
  EAI_AGAIN: 'HOST',
};
const LISTEN_SYSCALLS = new Set(['listen', 'bind', 'getaddrinfo']);

/** Prints a one-line error, or the stack trace with LOG_LEVEL=debug, and exits with status 1. */
export function exitWithError(error: unknown): never {
  const { code, message, stack, syscall } = error as NodeJS.ErrnoException;
  const settingName = LISTEN_SYSCALLS.has(syscall ?? '') && SETTING_BY_ERROR_CODE[code ?? ''];

  if (settingName) process.stderr.write(`fitgraph: ${settingName}: ${message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`fitgraph: ${message}\n`);
  else {
    const hint = `${message} (set LOG_LEVEL=debug for a stack trace)`;

    process.stderr.write(`fitgraph: ${printsStackTraces() ? stack : hint}\n`);
  }

  process.exit(1);
}

/**
 * Ignores write errors of stdout and stderr (EPIPE, EIO): a closed terminal or pipe must not crash
 * the process.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/**
 * Whether a write failed because its terminal or pipe was closed. On a file, EIO is an error of the
 * disk or network.
 */
const isClosedOutputError = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY);

/**
 * Makes a command fail if its output cannot be written, for example because a disk is full. A
 * reader may close the pipe when it needs no more output.
 */
export function failOnOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosedOutputError(error)) exitWithError(error);
  });
  process.stderr.on('error', () => undefined);
}

/**
 * Calls `stop` at the first signal only: on Ctrl-C, the terminal and the parent process may each
 * send one.
 */
export function onFirstSignal(signals: readonly NodeJS.Signals[], stop: () => void): void {
  let isStopping = false;

  const stopOnce = () => {
    if (isStopping) return;
    isStopping = true;
    stop();
  };

  for (const signal of signals) process.on(signal, stopOnce);
}

/** Maximum duration of the shutdown, for example if the database hangs. */
const SHUTDOWN_TIMEOUT_MS = 9_000;

export const exitOnSignal = (signals: readonly NodeJS.Signals[], stop: () => Promise<void>): void =>
  onFirstSignal(signals, () => {
    setTimeout(() => process.exit(0), SHUTDOWN_TIMEOUT_MS).unref();
    void stop().then(() => process.exit(0), exitWithError);
  });
