/** How a process of the server ends. */
import { ConfigError, wantsStacks } from '../platform/config';

/** The setting that is to blame where the server cannot listen. */
const BLAMED: Record<string, string> = { EADDRINUSE: 'PORT', EACCES: 'PORT', EADDRNOTAVAIL: 'HOST', ENOTFOUND: 'HOST', EAI_AGAIN: 'HOST' };
const LISTENING = new Set(['listen', 'bind', 'getaddrinfo']);

/** One line that says what is wrong; where it comes from is for who debugs. */
export function fail(error: unknown): never {
  const { code, message, stack, syscall } = error as NodeJS.ErrnoException;
  const setting = LISTENING.has(syscall ?? '') && BLAMED[code ?? ''];
  if (setting) process.stderr.write(`fitgraph: ${setting}: ${message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`fitgraph: ${message}\n`);
  else process.stderr.write(`fitgraph: ${wantsStacks() ? stack : `${message} (LOG_LEVEL=debug shows where)`}\n`);
  process.exit(1);
}

/** Output that nobody reads any more must not end the process: the terminal has been closed, or the program after the pipe has ended. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Told twice, as everybody in a terminal is by Ctrl-C, it stops once. */
export function onSignal(signals: readonly NodeJS.Signals[], stop: () => void): void {
  let told = false;
  const once = () => {
    if (told) return;
    told = true;
    stop();
  };
  for (const signal of signals) process.on(signal, once);
}

/** SIGHUP: the terminal has been closed. SIGUSR2: nodemon restarts. */
export const ENDS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const;

/** Whatever hangs by then, a database perhaps, is left behind. */
const HARD_END_MS = 9_000;

export const endOn = (signals: readonly NodeJS.Signals[], stop: () => Promise<void>): void =>
  onSignal(signals, () => {
    setTimeout(() => process.exit(0), HARD_END_MS).unref();
    void stop().then(() => process.exit(0), fail);
  });
