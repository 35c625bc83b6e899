/**
 * Version of all public rows: a number that grows whenever a public row may have changed. What was
 * read while it stayed the same is up to date for as long as it stays the same.
 *
 * Other processes report their changes by notifications, which arrive within milliseconds. Own
 * writes advance the version before they are acknowledged, so a read after them is never stale.
 */
import type { CatalogueCache } from './catalogue-cache';
import { CHANGE_CHANNEL } from './change-log';
import type { NotificationListener } from './listener';

export class PublicDataVersion {
  private changeCount = 0;

  constructor(
    private readonly listener: NotificationListener,
    private readonly catalogue: Pick<CatalogueCache, 'generation'>,
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
    return this.listener.isConnected ? this.changeCount + this.catalogue.generation : undefined;
  }

  readonly advance = (): void => {
    this.changeCount += 1;
  };
}
