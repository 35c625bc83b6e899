/** The table of events on the pages of superusers. */
import type { StoredSecurityEvent } from '../../accounts/security-events';
import { Time } from '../account/fields';
import { Table } from '../table';

export const EventTable = ({ events }: { events: readonly StoredSecurityEvent[] }) => (
  <Table
    label="Events"
    columns={['Time', 'Event', 'Account', 'By', 'Address', 'Details']}
    rows={events.map(({ occurredAt, kind, userId, username, operator, address, detail }) => [
      <Time time={occurredAt} />,
      kind,
      username ?? userId,
      operator,
      address,
      detail,
    ])}
  />
);
