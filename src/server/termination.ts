/** Process termination: exit with a one-line error, handling of termination signals, and a time limit for the shutdown. */
import { ConfigError, showsStackTraces } from '../platform/config';

/** Settings to which the error message refers if the server cannot listen, by error code. */
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
  else
    process.stderr.write(
      `fitgraph: ${showsStackTraces() ? stack : `${message} (set LOG_LEVEL=debug for a stack trace)`}\n`,
    );
  process.exit(1);
}

/** Ignores write errors of stdout and stderr (EPIPE, EIO): a closed terminal or pipe must not crash the process. */
export function ignoreClosedStdout(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Whether a write failed because its terminal or pipe has been closed. EIO of a file is an error of its disk or network. */
const isClosedOutputError = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY);

/**
 * Makes a command fail if its output cannot be written, for example because a disk is full. It does not fail if the reader has closed the pipe, because
 * the reader then needs no more output.
 */
export function failOnOutputErrors(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isClosedOutputError(error)) exitWithError(error);
  });
  process.stderr.on('error', () => undefined);
}

/** Calls `stop` only at the first of the signals: on Ctrl-C, a process may receive a signal from the terminal and another one from its parent. */
export function onFirstSignal(signals: readonly NodeJS.Signals[], stop: () => void): void {
  let isStopping = false;
  const stopOnce = () => {
    if (isStopping) return;
    isStopping = true;
    stop();
  };
  for (const signal of signals) process.on(signal, stopOnce);
}

/** Maximum duration of the shutdown. The process then exits even if, for example, the database hangs. */
const EXIT_TIMEOUT_MS = 9_000;

export const exitOnSignal = (signals: readonly NodeJS.Signals[], stop: () => Promise<void>): void =>
  onFirstSignal(signals, () => {
    setTimeout(() => process.exit(0), EXIT_TIMEOUT_MS).unref();
    void stop().then(() => process.exit(0), exitWithError);
  });
