/** Work on images, in processes of their own that are started when there is some and killed when they take too long. */
import { fork, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { TooBusy } from '../platform/turns';
import type { StoredFormat } from './formats';
import type { Thumbnail } from './paths';
import type { Finding } from './picture';

export type Task =
  | { kind: 'reencode'; path: string; wanted: StoredFormat | undefined }
  | { kind: 'shrink'; from: string; to: string; thumbnail: Thumbnail; png: boolean };

/** Milliseconds of the processor's time that the task may take. */
export type Order = Task & { cpuMs: number };

export type Reply = { result: unknown } | { error: string } | { slow: true };

/** The file was too much for the process that worked on it. */
export class ImageFailure extends Error {
  constructor(readonly reason: 'slow' | 'broken') {
    super(`the process of an image was ${reason}`);
  }
}

const PLACES = 2;
const WORKER = join(__dirname, `imageworker${extname(__filename)}`);
/** Megabytes; pictures are kept beside it. */
const HEAP = 64;
const IDLE_MS = 30_000;
const MAX_WAITING = 200;
const MAX_OF_ONE = 40;
const PATIENCE_MS = 15_000;
const DEFAULT_TIMEOUT_MS = 10_000;
/**
 * The process gives up by its own CPU time. One that gets none, or hangs, is killed after so many times as long, which tells nothing about the file.
 */
const WAITED_TIMES = 3;
const NEVER_MS = 2 ** 31 - 1;

class Place {
  private child?: ChildProcess;
  private idle?: NodeJS.Timeout;

  async run(task: Task, cpuMs: number): Promise<unknown> {
    clearTimeout(this.idle);
    const child = (this.child ??= this.begin());
    let over = () => undefined as void;
    try {
      const reply = await new Promise<Reply>((resolve, reject) => {
        const broken = () => reject(new ImageFailure('broken'));
        const timer = setTimeout(() => reject(new TooBusy()), Math.min(cpuMs * WAITED_TIMES, NEVER_MS));
        child.on('message', resolve).on('exit', broken).on('error', broken);
        over = () => {
          clearTimeout(timer);
          child.off('message', resolve).off('exit', broken).off('error', broken);
        };
        child.send({ ...task, cpuMs } satisfies Order, (error) => error && broken());
      });
      if ('slow' in reply) throw new ImageFailure('slow');
      if ('error' in reply) throw new Error(reply.error);
      return reply.result;
    } catch (error) {
      if (error instanceof ImageFailure || error instanceof TooBusy) this.end();
      throw error;
    } finally {
      over();
      this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
    }
  }

  end(): void {
    clearTimeout(this.idle);
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }

  private begin(): ChildProcess {
    const child = fork(WORKER, {
      execArgv: [`--max-old-space-size=${HEAP}`],
      serialization: 'json',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const gone = () => {
      if (this.child === child) this.child = undefined;
    };
    child.on('exit', gone).on('error', gone);
    // Nobody waits for it at the end, and requests come first.
    child.unref();
    child.channel?.unref();
    try {
      setPriority(child.pid!, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Gone already, which is told as its exit.
    }
    return child;
  }
}

type Begin = (place: Place) => void;

export class ImageProcesses {
  /** Milliseconds of the processor's time after which an image is given up; 0: never. */
  timeout = DEFAULT_TIMEOUT_MS;
  /** Milliseconds for which a task waits until it is begun. */
  patience = PATIENCE_MS;
  private readonly places = Array.from({ length: PLACES }, () => new Place());
  private readonly free = [...this.places];
  private readonly working = new Set<string>();
  /** By caller, in the order in which they have their turns. */
  private readonly waiting = new Map<string, Begin[]>();
  private count = 0;

  /**
   * One caller has one place at a time. Throws an ImageFailure for a file that cannot be worked on, TooBusy where too many wait or the machine does
   * not get to it.
   */
  reencode(caller: string, path: string, wanted: StoredFormat | undefined): Promise<Finding> {
    return this.run(caller, { kind: 'reencode', path, wanted }) as Promise<Finding>;
  }

  /** As `reencode`. */
  async shrink(caller: string, from: string, to: string, thumbnail: Thumbnail, png: boolean): Promise<void> {
    await this.run(caller, { kind: 'shrink', from, to, thumbnail, png });
  }

  end(): void {
    for (const place of this.places) place.end();
  }

  private async run(caller: string, task: Task): Promise<unknown> {
    const place = await this.placeFor(caller);
    try {
      return await place.run(task, this.timeout || NEVER_MS);
    } finally {
      this.working.delete(caller);
      this.free.push(place);
      this.next();
    }
  }

  private placeFor(caller: string): Place | Promise<Place> {
    if (!this.working.has(caller) && this.free.length) {
      this.working.add(caller);
      return this.free.pop()!;
    }
    const others = this.waiting.get(caller) ?? [];
    if (this.count >= MAX_WAITING || others.length >= MAX_OF_ONE) throw new TooBusy();
    this.count += 1;
    return new Promise((resolve, reject) => {
      const begin: Begin = (place) => {
        clearTimeout(timer);
        resolve(place);
      };
      const timer = setTimeout(() => {
        this.leave(caller, begin);
        reject(new TooBusy());
      }, this.patience);
      this.waiting.set(caller, [...others, begin]);
    });
  }

  private leave(caller: string, begin: Begin): void {
    const left = (this.waiting.get(caller) ?? []).filter((other) => other !== begin);
    if (left.length) this.waiting.set(caller, left);
    else this.waiting.delete(caller);
    this.count -= 1;
  }

  private next(): void {
    for (const [caller, [begin, ...others]] of this.waiting) {
      if (!this.free.length) return;
      if (this.working.has(caller)) continue;
      // Behind everybody else.
      this.waiting.delete(caller);
      if (others.length) this.waiting.set(caller, others);
      this.count -= 1;
      this.working.add(caller);
      begin!(this.free.pop()!);
    }
  }
}

export const imageProcesses = new ImageProcesses();
