/** Fields and forms of the pages of an account and of superusers. */
import type { ComponentChildren, JSX } from 'preact';
import { CopyButton } from '../copy-button';
import type { Visitor } from '../layout';
import { LocalTime } from '../local-times';

/** A time to the minute; "never" for null. */
export const Time = ({ time }: { time: string | null }) =>
  time === null ? (
    <>never</>
  ) : (
    <LocalTime time={time} text={time.slice(0, 'YYYY-MM-DDThh:mm'.length).replace('T', ' ')} />
  );

type FieldProps = JSX.IntrinsicElements['input'] & {
  name: string;
  label: string;
  value?: string;
  help?: string;

  /** Values of a list, with labels that differ from them. */
  choices?: readonly (string | readonly [value: string, label: string])[];
};

export const Field = ({ label, help, choices, ...attributes }: FieldProps) => {
  const { name, value } = attributes;
  const helpId = `${name}-help`;

  return (
    <div>
      <label for={name}>{label}</label>
      {choices ? (
        <select id={name} name={name}>
          {choices.map((choice) => {
            const [choiceValue, text = choiceValue] = [choice].flat();

            return (
              <option value={choiceValue} selected={choiceValue === value}>
                {text}
              </option>
            );
          })}
        </select>
      ) : (
        <input id={name} autocomplete="off" aria-describedby={help && helpId} {...attributes} />
      )}
      {help && (
        <p class="help" id={helpId}>
          {help}
        </p>
      )}
    </div>
  );
};

/** A form with the CSRF token. `command` is sent as the field `action`. */
export const PostForm = (props: {
  action: string;
  command?: string;
  visitor: Visitor;
  class?: string;

  /** Whether only the server validates it, because its messages say more than those of browsers. */
  noValidate?: boolean;
  children: ComponentChildren;
}) => (
  <form
    method="post"
    action={props.action}
    class={props.class ?? 'inline'}
    noValidate={props.noValidate}
  >
    <input type="hidden" name="csrfToken" value={props.visitor.csrfToken} />
    {props.command && <input type="hidden" name="action" value={props.command} />}
    {props.children}
  </form>
);

/** A button for the row of a list with this id. */
export const RowButton = ({
  id,
  label,
  description,
  ...form
}: Omit<Parameters<typeof PostForm>[0], 'children'> & {
  id: string | number;
  label: string;
  description?: string;
}) => (
  <PostForm {...form}>
    <input type="hidden" name="id" value={id} />
    <button class="plain" aria-label={description}>
      {label}
    </button>
  </PostForm>
);

/** Shows a secret once, with a button that copies it. */
export const SecretNotice = (props: {
  id: string;
  secret: string;
  children: ComponentChildren;
}) => (
  <div class="notice" role="status">
    <p>{props.children}</p>
    <div class="row">
      <code id={props.id}>{props.secret}</code>
      <CopyButton sourceId={props.id} label={`Copy ${props.id}`} />
    </div>
  </div>
);

/** Messages on a form that was rejected. */
export const Errors = ({ title, messages }: { title?: string; messages: readonly string[] }) => (
  <div class="alert" role="alert">
    {title && <strong>{title}</strong>}
    {messages.map((message) => (
      <p class="error">{message}</p>
    ))}
  </div>
);

/** Link to the next page of a list with the parameters of the query, unless `after` is absent. */
export const NextLink = ({ query, label }: { query: Record<string, unknown>; label: string }) => {
  const parameters = Object.entries(query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );

  return query.after ? (
    <p>
      <a href={`?${new URLSearchParams(parameters)}`}>{label}</a>
    </p>
  ) : null;
};
