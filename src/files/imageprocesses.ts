/** Work on images, in processes of their own that are started when there is some and killed when they take too long. */
import { fork, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { Limiter, Overloaded } from '../platform/limiter';
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
const QUEUE = { maxQueued: 200, maxQueuedPerClient: 40, maxWaitMs: 15_000 };
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
        const timer = setTimeout(() => reject(new Overloaded()), Math.min(cpuMs * WAITED_TIMES, NEVER_MS));
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
      if (error instanceof ImageFailure || error instanceof Overloaded) this.end();
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

export class ImageProcesses {
  /** Milliseconds of the processor's time after which an image is given up; 0: never. */
  timeout = DEFAULT_TIMEOUT_MS;
  private readonly limiter = new Limiter<string>({ slots: PLACES, slotsPerClient: 1, ...QUEUE });
  private readonly places = Array.from({ length: PLACES }, () => new Place());
  private readonly free = [...this.places];

  /** How long a task waits until it is begun, in milliseconds. */
  get maxWaitMs(): number {
    return this.limiter.limits.maxWaitMs;
  }

  set maxWaitMs(ms: number) {
    this.limiter.limits.maxWaitMs = ms;
  }

  /**
   * One caller has one place at a time. Throws an ImageFailure for a file that cannot be worked on, Overloaded where too many wait or the machine does
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

  private run(caller: string, task: Task): Promise<unknown> {
    return this.limiter.run(caller, async () => {
      const place = this.free.pop()!;
      try {
        return await place.run(task, this.timeout || NEVER_MS);
      } finally {
        this.free.push(place);
      }
    });
  }
}

export const imageProcesses = new ImageProcesses();
