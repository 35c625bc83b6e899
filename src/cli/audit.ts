/** `fitgraph audit`: prints the audit log. */
import { ClientError } from '../engine/declare/errors';
import type { EventKind } from '../accounts/event-kinds';
import {
  findEvents,
  type EventFilter,
  type StoredSecurityEvent,
} from '../accounts/security-events';
import { withDatabase, printLine, replaceControlCharacters } from './command-context';

const PAGE_SIZE = 1_000;

function formatEvent({
  occurredAt,
  kind,
  userId,
  username,
  address,
  operator,
  detail,
  wasTruncated,
}: StoredSecurityEvent): string {
  const account = username ?? (userId === null ? '-' : `#${userId}`);
  const source = [operator === null ? [] : `operator ${operator}`, address ?? []]
    .flat()
    .join(' at ');

  return replaceControlCharacters(
    [
      occurredAt,
      kind,
      account,
      source || '-',
      ...(detail === null ? [] : [detail]),
      ...(wasTruncated ? ['(further events are not recorded)'] : []),
    ].join('  '),
  );
}

interface AuditOptions {
  user?: string;
  kind?: EventKind[];
  address?: string;
  since?: string;
  until?: string;
  limit: number;
  json?: boolean;
}

export const printAuditLog = ({
  user,
  kind: kinds,
  address,
  since,
  until,
  limit,
  json,
}: AuditOptions): Promise<void> =>
  withDatabase(async ({ session }) => {
    if (user?.includes('\0')) throw new ClientError('BAD_USER_INPUT', 'No user has this name.');
    const filter: EventFilter = { username: user, kinds, address, since, until };

    for (let remaining = limit; remaining > 0;) {
      const events = await findEvents(filter, Math.min(remaining, PAGE_SIZE), session);

      for (const event of events) printLine(json ? JSON.stringify(event) : formatEvent(event));
      if (events.length < PAGE_SIZE) return;
      remaining -= events.length;
      filter.olderThanId = events.at(-1)!.id;
    }
  });
