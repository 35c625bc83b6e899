/**
 * Worker process that decodes and encodes images, so that a hang or crash does not affect the
 * server.
 */
import sharp from 'sharp';
import type { ImageTaskWithLimit, WorkerReply, ImageTask } from './image-worker-pool';
import { TERMINATION_SIGNALS } from '../shared/termination-signals';
import { reencodeImage, writeThumbnail } from './image-processing';

/** One thread per image leaves the other cores free for requests. */
sharp.concurrency(1);

function runTask(task: ImageTask): Promise<unknown> {
  if (task.kind === 'reencode') {
    return reencodeImage(task.path, task.targetFormat, task.maxJpegMegapixels);
  }

  return writeThumbnail(task.sourcePath, task.targetPath, task.spec, task.isPng);
}

const CPU_CHECK_INTERVAL_MS = 50;

const sendReply = (reply: WorkerReply) => process.send!(reply);

const cpuMsSince = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since);

  return (user + system) / 1_000;
};

/**
 * Runs a task with a limit on its CPU time. Decoding runs on other threads, so the timer works.
 * Decoding cannot be cancelled, so the server kills this process when it receives the reply `slow`.
 */
process.on('message', (task: ImageTaskWithLimit) => {
  const startUsage = process.cpuUsage();
  const isSlow = () => cpuMsSince(startUsage) >= task.maxCpuMs;
  const cpuTimer = setInterval(() => isSlow() && finish({ slow: true }), CPU_CHECK_INTERVAL_MS);

  const finish = (reply: WorkerReply) => {
    clearInterval(cpuTimer);
    sendReply(reply);
  };

  // Checks the CPU time once more, because on a busy machine the task may end before the timer
  // fires.
  const replyWithinLimit = (reply: WorkerReply) => finish(isSlow() ? { slow: true } : reply);

  runTask(task).then(
    (result) => replyWithinLimit({ result }),
    (error: Error) => replyWithinLimit({ error: error.message }),
  );
});
// Ignores termination signals, which a terminal also sends to the image workers. The server needs
// them until its requests are completed.
for (const signal of TERMINATION_SIGNALS) process.on(signal, () => undefined);
// Exits at once if the server has stopped, even while decoding.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
