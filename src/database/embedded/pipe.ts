/**
 * Named pipes as signs of life.
 *
 * The kernel counts who has a pipe open and forgets a process the moment it ends, however it ends. So an open pipe says
 * "I am alive" more truly than a file with a process number in it: nothing goes stale, and no number is used twice.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;

export interface Owner {
  uid: number;
  gid: number;
}

/** Makes the pipe, readable for its owner alone. Node has no call for it. */
export function makePipe(path: string, owner?: Owner): void {
  const made = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8' });
  if (made.error) throw made.error;
  if (made.status !== 0) throw new Error(made.stderr.trim() || `mkfifo ${path} failed`);
  if (owner) fs.lchownSync(path, owner.uid, owner.gid);
}

/** Opens the pipe for reading without waiting for a writer. */
export function openReader(path: string): number {
  return fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
}

/** Opens the pipe for writing; undefined when nobody reads it, or when it is no longer there. */
export function openWriter(path: string): number | undefined {
  let fd: number;
  try {
    fd = fs.openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (['ENXIO', 'ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
  // Root may be looking into a directory of another user: write into nothing but a pipe.
  if (fs.fstatSync(fd).isFIFO()) return fd;
  fs.closeSync(fd);
  return undefined;
}
