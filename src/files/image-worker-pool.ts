/**
 * Pool of worker processes for image processing. They start on demand, and are killed when idle or
 * when a task takes too long.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { extname, join } from 'node:path';
import { ConcurrencyLimiter, OverloadedError, MAX_TIMER_MS } from '../shared/limiter';
import { TERMINATION_SIGNALS } from '../shared/termination-signals';
import type { StoredImageFormat } from './formats';
import type { ThumbnailSpec } from './paths';
import type { ReencodeResult } from './image-processing';

export type ImageTask =
  | {
      kind: 'reencode';
      path: string;
      targetFormat: StoredImageFormat | undefined;
      maxJpegMegapixels: number;
    }
  | {
      kind: 'thumbnail';
      sourcePath: string;
      targetPath: string;
      spec: ThumbnailSpec;
      isPng: boolean;
    };

export type ImageTaskWithLimit = ImageTask & { maxCpuMs: number };

export type WorkerReply = { result: unknown } | { error: string } | { slow: true };

/** Thrown if an image made the worker process exceed its CPU time (`slow`) or crash (`broken`). */
export class ImageTaskFailure extends Error {
  constructor(readonly reason: 'slow' | 'broken') {
    super(`the image process was ${reason}`);
  }
}

const MAX_WORKERS = 2;

/**
 * Niceness of the image workers (https://man7.org/linux/man-pages/man7/sched.7.html), so that they
 * do not slow down requests. Beside one busy process, niceness 5 leaves them a quarter of a
 * processor; 10 would leave a tenth, too little for a large image.
 */
const WORKER_NICENESS = 5;
const WORKER_SCRIPT = join(__dirname, `image-worker${extname(__filename)}`);

/** Maximum JavaScript heap of a worker process. The pixels of images are not in this heap. */
const MAX_HEAP_MB = 64;
const IDLE_TIMEOUT_MS = 30_000;
const DEFAULT_CPU_TIME_LIMIT_MS = 10_000;
const MIN_WAIT_LIMIT_MS = 15_000;
const DEFAULT_MAX_JPEG_MEGAPIXELS = 50;

/**
 * Ratio of the maximum wait in the queue to the CPU time limit: if tasks may take longer, the tasks
 * behind them may wait longer.
 */
const WAIT_TO_CPU_TIME_RATIO = 1.5;
const QUEUE_LIMITS = { maxQueued: 200, maxQueuedPerClient: 40, maxWaitMs: MIN_WAIT_LIMIT_MS };

/**
 * A worker is killed if it takes this many times its CPU time limit in real time: it hangs or gets
 * no CPU time. The task fails with OverloadedError, because the file is not to blame.
 */
const WALL_CLOCK_TO_CPU_TIME_RATIO = 3;

class ImageWorker {
  private child?: ChildProcess;
  private idleTimer?: NodeJS.Timeout;

  async run(task: ImageTask, maxCpuMs: number): Promise<unknown> {
    clearTimeout(this.idleTimer);
    const child = (this.child ??= this.startProcess());
    let removeListeners = () => undefined as void;

    try {
      const reply = await new Promise<WorkerReply>((resolve, reject) => {
        const rejectAsBroken = () => reject(new ImageTaskFailure('broken'));

        const rejectOnExit = (_status: number | null, signal: NodeJS.Signals | null) => {
          // A termination signal is not the fault of the image: a terminal or service manager sends
          // such signals to all processes of the server.
          const isTerminated = TERMINATION_SIGNALS.some((name) => name === signal);

          reject(isTerminated ? new OverloadedError() : new ImageTaskFailure('broken'));
        };

        const timer = setTimeout(
          () => reject(new OverloadedError()),
          Math.min(maxCpuMs * WALL_CLOCK_TO_CPU_TIME_RATIO, MAX_TIMER_MS),
        );

        child.on('message', resolve).on('exit', rejectOnExit).on('error', rejectAsBroken);

        removeListeners = () => {
          clearTimeout(timer);
          child.off('message', resolve).off('exit', rejectOnExit).off('error', rejectAsBroken);
        };

        child.send(
          { ...task, maxCpuMs } satisfies ImageTaskWithLimit,
          (error) => error && rejectAsBroken(),
        );
      });

      if ('slow' in reply) throw new ImageTaskFailure('slow');
      if ('error' in reply) throw new Error(reply.error);

      return reply.result;
    } catch (error) {
      if (error instanceof ImageTaskFailure || error instanceof OverloadedError) this.endProcess();
      throw error;
    } finally {
      removeListeners();
      this.idleTimer = setTimeout(() => this.endProcess(), IDLE_TIMEOUT_MS).unref();
    }
  }

  endProcess(): void {
    clearTimeout(this.idleTimer);
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }

  private startProcess(): ChildProcess {
    const child = fork(WORKER_SCRIPT, {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      serialization: 'json',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });

    const forgetChild = () => {
      if (this.child === child) this.child = undefined;
    };

    child.on('exit', forgetChild).on('error', forgetChild);
    // Without a process id, the worker could not be started: the system lacks processes, memory or
    // file descriptors.
    if (child.pid === undefined) throw new OverloadedError();
    // Does not let the worker process keep the server running.
    child.unref();
    child.channel?.unref();

    try {
      setPriority(child.pid!, WORKER_NICENESS);
    } catch {
      // Ignores that the process has already exited, which its `exit` event reports.
    }

    return child;
  }
}

export class ImageWorkerPool {
  /** Maximum size of an uploaded JPEG. */
  maxJpegMegapixels = DEFAULT_MAX_JPEG_MEGAPIXELS;
  private maxCpuTimeMs = DEFAULT_CPU_TIME_LIMIT_MS;
  readonly limiter = new ConcurrencyLimiter<string>({
    slots: MAX_WORKERS,
    slotsPerClient: 1,
    ...QUEUE_LIMITS,
  });
  private readonly workers = Array.from({ length: MAX_WORKERS }, () => new ImageWorker());
  private readonly freeWorkers = [...this.workers];

  get cpuTimeLimitMs(): number {
    return this.maxCpuTimeMs;
  }

  /**
   * CPU time limit of a task in milliseconds; 0 for none. The maximum wait in the queue is a
   * multiple of it.
   */
  set cpuTimeLimitMs(cpuMs: number) {
    this.maxCpuTimeMs = cpuMs;
    this.limiter.limits.maxWaitMs = Math.max(MIN_WAIT_LIMIT_MS, cpuMs * WAIT_TO_CPU_TIME_RATIO);
  }

  /**
   * Validates and re-encodes an image. Each client uses one worker at a time. Throws
   * ImageTaskFailure if the file is to blame, and OverloadedError if the queue is full or the
   * worker gets no CPU time.
   */
  reencode(
    clientKey: string,
    path: string,
    targetFormat: StoredImageFormat | undefined,
  ): Promise<ReencodeResult> {
    return this.run(clientKey, {
      kind: 'reencode',
      path,
      targetFormat,
      maxJpegMegapixels: this.maxJpegMegapixels,
    }) as Promise<ReencodeResult>;
  }

  async writeThumbnail(
    clientKey: string,
    sourcePath: string,
    targetPath: string,
    spec: ThumbnailSpec,
    isPng: boolean,
  ): Promise<void> {
    await this.run(clientKey, {
      kind: 'thumbnail',
      sourcePath,
      targetPath,
      spec,
      isPng,
    });
  }

  end(): void {
    for (const worker of this.workers) worker.endProcess();
  }

  private run(clientKey: string, task: ImageTask): Promise<unknown> {
    return this.limiter.run(clientKey, async () => {
      const worker = this.freeWorkers.pop()!;

      try {
        return await worker.run(task, this.maxCpuTimeMs || MAX_TIMER_MS);
      } finally {
        this.freeWorkers.push(worker);
      }
    });
  }
}

export const imageWorkerPool = new ImageWorkerPool();
