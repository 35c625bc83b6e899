/**
 * The findings of the diagnostics for the pages of superusers. One run at a time: requests share its
 * findings, and those of the last run for a few seconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/connection';
import { readEnvironment, type Config } from '../shared/config';
import { checkDatabase, checkInstallation, createReporter, type Finding } from './diagnostics';

const MAX_WAIT_MS = 5_000;
const MAX_AGE_MS = 5_000;

export class HealthReport {
  private findings: Finding[] = [];
  private run?: Promise<void>;
  isRunning = false;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /** Returns the findings so far if the checks take longer than MAX_WAIT_MS. */
  async read(): Promise<readonly Finding[]> {
    this.run ??= this.check();
    await Promise.race([this.run, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    return this.findings;
  }

  private async check(): Promise<void> {
    const findings: Finding[] = (this.findings = []);
    const report = createReporter((finding) => findings.push(finding));

    this.isRunning = true;

    try {
      checkInstallation(this.config, readEnvironment(), report);
      await checkDatabase(this.config, this.database, report);
    } catch (error) {
      report.fail('Unexpected', (error as Error).message);
    }

    this.isRunning = false;
    setTimeout(() => (this.run = undefined), MAX_AGE_MS).unref();
  }
}
