/**
 * Version of all public rows: a number that grows whenever a public row may have changed. What was
 * read while it stayed the same is up to date for as long as it stays the same.
 *
 * Other instances report their changes by notifications, which arrive within milliseconds. Writes of
 * this instance, by any worker, advance the version before they are acknowledged, so a read after
 * them is never stale.
 */
import type { CatalogueCache } from './catalogue-cache';
import { CHANGE_CHANNEL } from './change-log';
import type { NotificationListener } from './listener';

/** Counter of writes that the workers of an instance share. */
export interface SharedCounter {
  readonly count: number;
  increment(): void;
}

export class PublicDataVersion {
  private changeCount = 0;

  constructor(
    private readonly listener: NotificationListener,
    private readonly catalogue: Pick<CatalogueCache, 'generation'>,
    private readonly writeCounter: SharedCounter | undefined,
  ) {
    listener.registerHandler(CHANGE_CHANNEL, {
      onNotification: (payload) => {
        const isUserId = /^\d/.test(payload);

        if (!isUserId) this.advance();
      },
      onMissedNotifications: () => this.advance(),
    });
  }

  /** Undefined while the process is not notified of changes. */
  get current(): number | undefined {
    if (!this.listener.isConnected) return undefined;

    return this.changeCount + this.catalogue.generation + (this.writeCounter?.count ?? 0);
  }

  private advance(): void {
    this.changeCount += 1;
  }

  /** Advances the version in all workers of this instance. */
  readonly noteWrite = (): void => {
    this.advance();

    try {
      this.writeCounter?.increment();
    } catch {
      // The disk is full. The other workers are notified by PostgreSQL.
    }
  };
}
