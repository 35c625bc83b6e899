/**
 * Ends the workers when the supervisor has died, however it died. One whose loop turns ends by itself then; one that hangs would run for ever. A few lines of `sh` read who there is, and meet the end of their input when the supervisor is gone.
 */
import { spawn, type ChildProcess } from 'node:child_process';

const KEEPER = `
trap '' INT TERM HUP
workers=
while read -r line; do workers=$line; done
[ -z "$workers" ] || kill -9 $workers
`;

export class Keeper {
  private readonly child: ChildProcess;

  constructor() {
    // A session of its own: what the terminal sends is not meant for it.
    const options = {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'] as ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/bin:/usr/bin' },
    };
    this.child = spawn('/bin/sh', ['-c', KEEPER, 'fitgraph-keeper'], options);
    // Where it cannot be started, or was ended by somebody, workers whose loops turn still end by themselves.
    this.child.on('error', () => undefined);
    this.child.stdin!.on('error', () => undefined);
    this.child.unref();
  }

  /** All that are to be ended. */
  know(workers: readonly number[]): void {
    this.child.stdin!.write(`${workers.join(' ')}\n`);
  }
}
