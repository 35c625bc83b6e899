/** Reads the configuration, starts the server, stops it on a signal. */
import { ConfigError, readConfig } from './config';
import { serve } from './serve';

export async function main(): Promise<void> {
  const server = await serve(readConfig());
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    server.stop().then(
      () => process.exit(0),
      (error) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** A wrong configuration or a taken port is one line; anything else shows where it comes from. */
export function fail(error: unknown): never {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') process.stderr.write(`fitgraph: PORT: ${message}\n`);
  else if (error instanceof ConfigError) process.stderr.write(`fitgraph: ${message}\n`);
  else process.stderr.write(`fitgraph: ${stack ?? message}\n`);
  process.exit(1);
}

if (require.main === module) main().catch(fail);
