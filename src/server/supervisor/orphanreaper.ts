/**
 * Orphan reaper: kills the workers when the supervisor has died for any reason. A responsive worker then exits by itself, but a hung one would run
 * forever. A shell script reads the process ids of the workers from a pipe, which ends when the supervisor dies.
 */
import { spawn, type ChildProcess } from 'node:child_process';

const REAPER_SCRIPT = `
trap '' INT TERM HUP
workers=
while read -r line; do workers=$line; done
[ -z "$workers" ] || kill -9 $workers
`;

export class OrphanReaper {
  private readonly child: ChildProcess;

  constructor() {
    // `detached` starts the reaper in a new session, so that it receives no signals from the terminal.
    const options = {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'] as ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: '/bin:/usr/bin' },
    };
    this.child = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'fitgraph-keeper'], options);
    // Errors of the reaper are ignored: even without it, responsive workers exit by themselves when the supervisor dies.
    this.child.on('error', () => undefined);
    this.child.stdin!.on('error', () => undefined);
    this.child.unref();
  }

  setWorkerPids(workerPids: readonly number[]): void {
    this.child.stdin!.write(`${workerPids.join(' ')}\n`);
  }
}
