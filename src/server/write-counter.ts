/**
 * Counter of the writes of public rows that all workers of a primary share: the size of a file
 * without a name. Notifications of PostgreSQL need milliseconds to reach another worker, while the
 * counter is up to date before a write is acknowledged.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createFolder } from '../shared/folders';

export class WriteCounter {
  /** File descriptor of the counter in all workers, after those of `stdio` and IPC. */
  static readonly WORKER_FD = 4;

  constructor(private readonly fd: number) {}

  /** Creates a counter. Returns its file descriptor, which child processes must inherit. */
  static create(folder: string): number {
    const file = path.join(folder, `write-counter-${process.pid}`);

    createFolder(folder, 0o700);
    const fd = fs.openSync(file, 'a', 0o600);

    fs.unlinkSync(file);
    return fd;
  }

  get count(): number {
    return fs.fstatSync(this.fd).size;
  }

  increment(): void {
    fs.writeSync(this.fd, '.');
  }
}
