/** Worker process that decodes and encodes images, so that a hang or crash does not affect the server. */
import sharp from 'sharp';
import type { LimitedImageTask, WorkerReply, ImageTask } from './imageworkerpool';
import { TERMINATION_SIGNALS } from '../platform/terminationsignals';
import { reencodeImage, writeThumbnail } from './imageprocessing';

/** One thread per image leaves the other cores free for requests. */
sharp.concurrency(1);

const runTask = (task: ImageTask): Promise<unknown> =>
  task.kind === 'reencode'
    ? reencodeImage(task.path, task.targetFormat)
    : writeThumbnail(task.from, task.to, task.thumbnail, task.isPng);

const CPU_CHECK_INTERVAL_MS = 50;

const sendReply = (reply: WorkerReply) => process.send!(reply);
const cpuMsSince = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

/**
 * Runs a task with a limit on its CPU time. Decoding runs on other threads, so it does not block the timer. Decoding cannot be cancelled, so the
 * server kills this process when it receives the reply `slow`.
 */
process.on('message', (task: LimitedImageTask) => {
  const startUsage = process.cpuUsage();
  const isSlow = () => cpuMsSince(startUsage) >= task.maxCpuMs;
  const cpuTimer = setInterval(() => isSlow() && finish({ slow: true }), CPU_CHECK_INTERVAL_MS);
  const finish = (reply: WorkerReply) => {
    clearInterval(cpuTimer);
    sendReply(reply);
  };
  // Checks the CPU time once more: on a busy machine, the task may end before the timer that enforces the limit fires.
  const replyWithinLimit = (reply: WorkerReply) => finish(isSlow() ? { slow: true } : reply);
  runTask(task).then(
    (result) => replyWithinLimit({ result }),
    (error: Error) => replyWithinLimit({ error: error.message }),
  );
});
// Ignores termination signals: a terminal sends them to the image workers as well, which the server needs until its requests are completed.
for (const signal of TERMINATION_SIGNALS) process.on(signal, () => undefined);
// If the server has stopped, exits at once, even while decoding.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
