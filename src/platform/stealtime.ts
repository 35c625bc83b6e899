/**
 * Steal time: the share of the CPU time needed by this machine that the hypervisor gave to other machines (`steal` in
 * https://man7.org/linux/man-pages/man5/proc_stat.5.html). Delays that it causes do not result from the server's own load. It is 0 if the operating system
 * does not report it.
 */
import { readFile } from 'node:fs/promises';

const MEASUREMENT_INTERVAL_MS = 1_000;

interface CpuTimes {
  stolenTime: number;
  /** CPU time that this machine demanded: the time that it used and the time that other machines of the host took from it (steal time). */
  demandedCpuTime: number;
}

function parseCpuTimes(text: string): CpuTimes | undefined {
  // The first line of /proc/stat contains the sums of all processors.
  const [label, ...counters] = text.split('\n', 1)[0]!.split(/ +/);
  if (label !== 'cpu') return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolenTime = 0] = counters.map(Number);
  return { stolenTime, demandedCpuTime: user + nice + system + irq + softirq + stolenTime };
}

export class StealTime {
  /** Share of the needed CPU time that the hypervisor gave to other machines (steal time) in the latest interval, between 0 and 1. */
  stolenCpuShare = 0;
  private previousTimes?: CpuTimes;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly file = '/proc/stat') {
    this.timer = setInterval(() => void this.measure(), MEASUREMENT_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  async measure(): Promise<void> {
    const currentTimes = await readFile(this.file, 'latin1').then(parseCpuTimes, () => undefined);
    const { previousTimes } = this;
    this.previousTimes = currentTimes;
    const demandedCpuTime = currentTimes && previousTimes ? currentTimes.demandedCpuTime - previousTimes.demandedCpuTime : 0;
    this.stolenCpuShare =
      demandedCpuTime > 0 ? Math.min(1, Math.max(0, (currentTimes!.stolenTime - previousTimes!.stolenTime) / demandedCpuTime)) : 0;
  }
}
