/**
 * One process at a time, and a dead one holds nothing.
 *
 * A lock is a numbered name, `lock.7`, of a pipe that its holder keeps open for reading. The highest number counts. It is
 * free when nobody reads it; then whoever links a pipe of its own as the next number has the lock. The highest number is
 * never deleted, so taking over from a dead holder can't hit the lock of a living one.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makePipe, openReader, openWriter } from './pipe';

/** From this age on (ms) an unread claim is a dead one. */
const CLAIM_AGE = 60_000;

function numbers(dir: string): number[] {
  return fs
    .readdirSync(dir)
    .map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
    .filter((number) => number > 0);
}

const highest = (dir: string): number => Math.max(0, ...numbers(dir));

function isHeld(name: string): boolean {
  const fd = openWriter(name);
  if (fd === undefined) return false;
  fs.closeSync(fd);
  return true;
}

/** Tries once; true when `claim`, a pipe that we read, now is the lock. */
function take(dir: string, claim: string): boolean {
  const last = highest(dir);
  if (last > 0 && isHeld(path.join(dir, `lock.${last}`))) return false;
  const next = path.join(dir, `lock.${last + 1}`);
  try {
    fs.linkSync(claim, next);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // While we looked, others may have taken and left several numbers, ours among them.
  if (highest(dir) === last + 1) return true;
  fs.rmSync(next, { force: true });
  return false;
}

/** Removes the lower numbers, and the claims of processes that died with them; a fresh claim may not be read yet. */
function clear(dir: string): void {
  const last = highest(dir);
  for (const number of numbers(dir)) if (number < last) fs.rmSync(path.join(dir, `lock.${number}`), { force: true });
  for (const name of fs.readdirSync(dir).filter((entry) => entry.startsWith('claim-'))) {
    const claim = path.join(dir, name);
    const made = fs.statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > CLAIM_AGE && !isHeld(claim)) fs.rmSync(claim, { force: true });
  }
}

/** Runs `work` while no other process (and no other call in this one) is inside for the same directory. */
export async function withLock<T>(dir: string, patience: number, work: () => Promise<T>): Promise<T> {
  const claim = path.join(dir, `claim-${randomBytes(6).toString('hex')}`);
  const owner = process.getuid?.() === 0 ? fs.statSync(dir) : undefined;
  makePipe(claim, owner);
  let fd: number | undefined;
  try {
    fd = openReader(claim);
    const giveUp = Date.now() + patience;
    while (!take(dir, claim)) {
      if (Date.now() > giveUp) throw new Error(`another process has been starting the database in ${dir} for too long`);
      await sleep(15);
    }
    clear(dir);
    return await work();
  } finally {
    fs.rmSync(claim, { force: true });
    if (fd !== undefined) fs.closeSync(fd);
  }
}
