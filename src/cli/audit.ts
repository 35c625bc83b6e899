import { KnownError } from '../core/model/errors';
import type { EventKind } from '../auth/eventkinds';
import { findEvents, type EventFilter, type SecurityEvent } from '../auth/securityevents';
import { operate, say } from './operator';

const PAGE_SIZE = 1_000;
/** One line: nothing in it that a terminal would take for a command. */
const plain = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

function lineOf({ occurredAt, kind, userId, username, address, operator, detail, wasTruncated }: SecurityEvent): string {
  const who = username ?? (userId === null ? '-' : `#${userId}`);
  const from = operator === null ? (address ?? '-') : `operator ${operator}`;
  return plain(
    [occurredAt, kind, who, from, ...(detail === null ? [] : [detail]), ...(wasTruncated ? ['(further ones are not noted)'] : [])].join(
      '  ',
    ),
  );
}

interface Options {
  user?: string;
  kind?: EventKind[];
  address?: string;
  since?: string;
  until?: string;
  limit: number;
  json?: boolean;
}

export const audit = ({ user, kind: kinds, address, since, until, limit, json }: Options): Promise<void> =>
  operate(async ({ session }) => {
    if (user?.includes('\0')) throw new KnownError('BAD_USER_INPUT', 'No user has such a name.');
    const filter: EventFilter = { username: user, kinds, address, since, until };
    for (let left = limit; left > 0;) {
      const found = await findEvents(filter, Math.min(left, PAGE_SIZE), session);
      for (const event of found) say(json ? JSON.stringify(event) : lineOf(event));
      if (found.length < PAGE_SIZE) return;
      left -= found.length;
      filter.before = found.at(-1)!.id;
    }
  });
