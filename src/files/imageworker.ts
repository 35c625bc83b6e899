/** The process in which images are decoded and encoded: what hangs or breaks down here takes nothing else with it. */
import sharp from 'sharp';
import type { Task } from './imageprocesses';
import { purify, shrink } from './picture';

/** The other cores are for requests. */
sharp.concurrency(1);

const done = (task: Task): Promise<unknown> =>
  task.kind === 'purify' ? purify(task.path, task.wanted) : shrink(task.from, task.to, task.thumbnail, task.png);

process.on('message', (task: Task) => {
  done(task).then(
    (result) => process.send!({ result }),
    (error: Error) => process.send!({ error: error.message }),
  );
});
// At once, whatever is being decoded.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
