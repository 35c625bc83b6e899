/**
 * Who uses the server, and the watchdog that stops it after the last of them.
 *
 * Every process that uses the server holds one named pipe open for writing. The watchdog, a few lines of `sh` in a
 * session of its own, reads that pipe: it meets the end of the file when no writer is left, even after `kill -9`.
 * Coming in while the watchdog is about to stop the server is the one race, and the order of the steps settles it:
 *   watchdog: end of file → rename the pipe, so that nobody can find it → read once more → end of file again: stop.
 *   newcomer: open the pipe → is it still under its name? then it will be seen by that second read → write a line.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { makePipe, openReader, openWriter, type Owner } from './pipe';

/** A place among the participants, given up by closing `fd`. */
export interface Lease {
  fd: number;
  /** The pipe's name; it is gone as soon as the server is to stop. */
  path: string;
}

const PREFIX = 'participants-';

/**
 * $1 the pipe, $2 its name while the server stops, then the command. PostgreSQL must not hold the pipe (3<&-).
 * SIGINT is its fast shutdown; it is repeated since a server that has only just been started may not listen yet.
 */
const WATCHDOG = `
pipe=$1 closing=$2; shift 2
"$@" 3<&- </dev/null & server=$!
(
  while :; do
    while read -r line; do :; done
    mv "$pipe" "$closing" || break
    read -r line || break
    mv "$closing" "$pipe"
  done
  while kill -INT $server 2>/dev/null; do sleep 1; done
) <&3 & watch=$!
exec 3<&-
wait $server; status=$?
kill $watch 2>/dev/null
rm -f "$pipe" "$closing"
exit $status
`;

/** The whole environment of the server: nothing of ours, neither secrets nor settings such as PGOPTIONS. */
export const SERVER_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

const pipes = (dir: string): string[] =>
  fs
    .readdirSync(dir)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => path.join(dir, name));

/** Joins those who use the server that runs now; undefined when there is none or when it is about to stop. */
export function join(dir: string): Lease | undefined {
  for (const name of pipes(dir)) {
    const fd = openWriter(name);
    if (fd === undefined) continue;
    if (fs.existsSync(name)) {
      try {
        fs.writeSync(fd, '\n');
        return { fd, path: name };
      } catch {
        // The watchdog ended in between.
      }
    }
    fs.closeSync(fd);
  }
  return undefined;
}

/** Starts `command` below a new watchdog, with this process as the first participant. Pipes of ended servers are cleared. */
export function launch(dir: string, command: string[], log: number, owner?: Owner): { child: ChildProcess; lease: Lease } {
  for (const name of pipes(dir)) fs.rmSync(name, { force: true });
  const id = randomBytes(6).toString('hex');
  const pipe = path.join(dir, PREFIX + id);
  makePipe(pipe, owner);
  // A pipe opened for writing needs a reader and the other way round. The first reader opens the way for the writer only;
  // the watchdog gets one of its own that waits when there is nothing to read, as `read` expects.
  const first = openReader(pipe);
  const fd = openWriter(pipe) as number;
  const reader = fs.openSync(pipe, 'r');
  fs.closeSync(first);
  try {
    const child = spawn('/bin/sh', ['-c', WATCHDOG, 'fitgraph-watchdog', pipe, path.join(dir, `closing-${id}`), ...command], {
      // A session of its own: Ctrl-C in the terminal is meant for the app.
      detached: true,
      stdio: ['ignore', log, log, reader],
      cwd: '/',
      env: SERVER_ENV,
      uid: owner?.uid,
      gid: owner?.gid,
    });
    child.unref();
    return { child, lease: { fd, path: pipe } };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  } finally {
    fs.closeSync(reader);
  }
}

/** Leaves; the watchdog notices by itself. Leaving twice is nothing: the number may be another file's by then. */
export function leave(lease: Lease | undefined): void {
  if (!lease || lease.fd < 0) return;
  fs.closeSync(lease.fd);
  lease.fd = -1;
}
