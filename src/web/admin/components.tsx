/** Components of the pages of superusers. */
import type { ComponentChildren } from 'preact';
import type { StoredSecurityEvent } from '../../accounts/security-events';
import { Minute } from '../account/account-sections';
import type { Visitor } from '../layout';
import { Table } from '../table';

export const Time = ({ time }: { time: string | null }) =>
  time === null ? <>never</> : <Minute timestamp={time} />;

export const Field = (props: {
  name: string;
  label: string;
  value?: string;
  help?: string;
  choices?: readonly string[];
}) => (
  <div>
    <label for={props.name}>{props.label}</label>
    {props.choices ? (
      <select id={props.name} name={props.name}>
        {props.choices.map((choice) => (
          <option selected={choice === props.value}>{choice}</option>
        ))}
      </select>
    ) : (
      <input id={props.name} name={props.name} value={props.value} autocomplete="off" />
    )}
    {props.help && <p class="help">{props.help}</p>}
  </div>
);

/** A form that the server validates, because its messages say more than those of browsers. */
export const PostForm = (props: {
  action: string;
  visitor: Visitor;
  class: string;
  children: ComponentChildren;
}) => (
  <form method="post" action={props.action} class={props.class} noValidate>
    <input type="hidden" name="csrfToken" value={props.visitor.csrfToken} />
    {props.children}
  </form>
);

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
