/**
 * Steal time: the share of the CPU time needed by this machine that its hypervisor gave to others (`steal` of
 * https://man7.org/linux/man-pages/man5/proc_stat.5.html). A delay that it causes is not a consequence of the server's own load. 0 where the system
 * does not report it.
 */
import { readFile } from 'node:fs/promises';

const INTERVAL_MS = 1_000;

interface CpuTimes {
  stolen: number;
  /** All time but that in which the CPU had nothing to do. */
  demanded: number;
}

function parseCpuTimes(text: string): CpuTimes | undefined {
  // The first line sums all processors.
  const [label, ...counters] = text.split('\n', 1)[0]!.split(/ +/);
  if (label !== 'cpu') return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = counters.map(Number);
  return { stolen, demanded: user + nice + system + irq + softirq + stolen };
}

export class StealTime {
  /** Between 0 and 1, in the latest interval. */
  share = 0;
  private former?: CpuTimes;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly file = '/proc/stat') {
    this.timer = setInterval(() => void this.measure(), INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async measure(): Promise<void> {
    const current = await readFile(this.file, 'latin1').then(parseCpuTimes, () => undefined);
    const { former } = this;
    this.former = current;
    const demanded = current && former ? current.demanded - former.demanded : 0;
    this.share = demanded > 0 ? Math.min(1, Math.max(0, (current!.stolen - former!.stolen) / demanded)) : 0;
  }
}
