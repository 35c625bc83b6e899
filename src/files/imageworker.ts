/** The process in which images are decoded and encoded: what hangs or breaks down here takes nothing else with it. */
import sharp from 'sharp';
import type { Order, Reply, Task } from './imageprocesses';
import { reencode, shrink } from './picture';

/** The other cores are for requests. */
sharp.concurrency(1);

const done = (task: Task): Promise<unknown> =>
  task.kind === 'reencode' ? reencode(task.path, task.wanted) : shrink(task.from, task.to, task.thumbnail, task.png);

const LOOK_EVERY_MS = 50;

const answer = (reply: Reply) => process.send!(reply);
const spentMs = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

/** Decoding has threads of its own, so that the clock is looked at meanwhile. What it does cannot be ended but with the process, by who hears that it is slow. */
process.on('message', (order: Order) => {
  const began = process.cpuUsage();
  const isSlow = () => spentMs(began) >= order.cpuMs;
  const watch = setInterval(() => isSlow() && finish({ slow: true }), LOOK_EVERY_MS);
  const finish = (reply: Reply) => {
    clearInterval(watch);
    answer(reply);
  };
  // On a busy machine the work may be done before the clock was looked at.
  const finished = (reply: Reply) => finish(isSlow() ? { slow: true } : reply);
  done(order).then(
    (result) => finished({ result }),
    (error: Error) => finished({ error: error.message }),
  );
});
// At once, whatever is being decoded.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
