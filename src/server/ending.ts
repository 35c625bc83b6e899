/** How a process of the server ends. */
import { ConfigError } from '../platform/config';

/** A wrong configuration or a taken port is one line; anything else shows where it comes from. */
export function fail(error: unknown): never {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') process.stderr.write(`fitgraph: PORT: ${message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`fitgraph: ${message}\n`);
  else process.stderr.write(`fitgraph: ${stack ?? message}\n`);
  process.exit(1);
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

export const ENDS = ['SIGTERM', 'SIGINT'] as const;

/** Whatever hangs by then, a database perhaps, is left behind. */
const HARD_END_MS = 9_000;

export const endOn = (signals: readonly NodeJS.Signals[], stop: () => Promise<void>): void =>
  onSignal(signals, () => {
    setTimeout(() => process.exit(0), HARD_END_MS).unref();
    void stop().then(() => process.exit(0), fail);
  });
