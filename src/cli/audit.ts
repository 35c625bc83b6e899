import { Command, InvalidArgumentError } from 'commander';
import { DateTime } from 'luxon';
import { KnownError } from '../core/model/errors';
import { findEvents, isEventKind, KINDS, type EventFilter, type EventKind, type SecurityEvent } from '../auth/securityevents';
import { operate, say } from './operator';

/** Read at a time. */
const PAGE = 1_000;
const AGES: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days' };

function kind(text: string, others: EventKind[] = []): EventKind[] {
  const name = text.toUpperCase().replaceAll('-', '_');
  if (!isEventKind(name)) throw new InvalidArgumentError(`It is one of ${Object.keys(KINDS).join(', ')}.`);
  return [...others, name];
}

/** A moment, or so long ago: `2026-03-10`, `2026-03-10T08:00`, `90m`, `12h`, `7d`. */
function moment(text: string): string {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const found = unit === undefined ? DateTime.fromISO(text) : DateTime.now().minus({ [AGES[unit]!]: Number(number) });
  if (!found.isValid || found.year < 1970 || found.year > 9999)
    throw new InvalidArgumentError('It is a moment such as 2026-03-10T08:00, or an age such as 90m, 12h or 7d.');
  return found.toUTC().toISO();
}

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1 on.');
  return Number(text);
}

/** One line: nothing in it that a terminal would take for a command. */
const plain = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

function lineOf({ at, kind, userId, username, address, operator, detail, isLast }: SecurityEvent): string {
  const who = username ?? (userId === null ? '-' : `#${userId}`);
  const from = operator === null ? (address ?? '-') : `operator ${operator}`;
  return plain([at, kind, who, from, ...(detail === null ? [] : [detail]), ...(isLast ? ['(further ones are not noted)'] : [])].join('  '));
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

export const auditCommand = () =>
  new Command('audit')
    .description('Show the audit log, newest first: sign-ins, passwords, tokens, accounts, commands of operators.')
    .option('--user <name>', 'of this account only')
    .option('--kind <kind>', 'of this kind only, such as SIGN_IN_FAILED; may be given again', kind)
    .option('--address <address>', 'from this address only; of IPv6 the network, as it is shown')
    .option('--since <moment>', 'from then on: 2026-03-10T08:00, or 90m, 12h, 7d ago', moment)
    .option('--until <moment>', 'before then', moment)
    .option('--limit <number>', 'so many at most', count, 100)
    .option('--json', 'as lines of JSON')
    .action(({ user, kind: kinds, address, since, until, limit, json }: Options) =>
      operate(async ({ session }) => {
        if (user?.includes('\0')) throw new KnownError('BAD_USER_INPUT', 'No user has such a name.');
        const filter: EventFilter = { username: user, kinds, address, since, until };
        for (let left = limit; left > 0;) {
          const found = await findEvents(filter, Math.min(left, PAGE), session);
          for (const event of found) say(json ? JSON.stringify(event) : lineOf(event));
          if (found.length < PAGE) return;
          left -= found.length;
          filter.before = found.at(-1)!.id;
        }
      }),
    );
