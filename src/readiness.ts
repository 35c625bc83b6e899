/** Whether requests can be answered now, decided in a second however long the database takes to say so. */
import { setTimeout as sleep } from 'node:timers/promises';

const DECIDED_MS = 1_000;

export class Readiness {
  private deciding?: Promise<boolean>;

  constructor(private readonly check: () => Promise<boolean>) {}

  /** Those who ask at the same time are told the same, so that they take one connection of those that others wait for. */
  decide(): Promise<boolean> {
    return (this.deciding ??= Promise.race([this.check().catch(() => false), sleep(DECIDED_MS, false, { ref: false })]).finally(
      () => (this.deciding = undefined),
    ));
  }
}
