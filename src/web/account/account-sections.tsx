/** Access tokens, sessions and recent security events on the pages of an account. */
import { type AccessToken, MAX_TOKEN_NAME_LENGTH, SCOPES } from '../../accounts/access-tokens';
import { EVENT_KINDS } from '../../accounts/event-kinds';
import type { StoredSecurityEvent } from '../../accounts/security-events';
import { graphqlScopeName } from '../../engine/access/scopes';
import type { AccountSession } from '../../accounts/sessions';
import { API_KEY_PAGE_PATH } from './account-paths';
import { Errors, Field, PostForm, RowButton, Time } from './fields';
import type { Visitor } from '../layout';
import { LocalDay } from '../local-times';
import { Table } from '../table';

/** Values and validation errors of a rejected form for a new access token, which is shown again. */
export interface TokenFormValues {
  name: string;
  scopes: readonly string[];
  lifetimeDays: string;
  errors: readonly string[];
}

/**
 * Lifetimes offered for an access token, the default first. An empty number of days means that it
 * never expires.
 */
export const TOKEN_LIFETIME_CHOICES: readonly [days: string, label: string][] = [
  ['90', 'in 90 days'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['365', 'in 1 year'],
  ['', 'never'],
];

interface ListProps {
  visitor: Visitor;

  /** Path of the page with the list. */
  path: string;
}

export const SessionTable = ({
  sessions,
  ...page
}: ListProps & { sessions: readonly AccountSession[] }) => (
  <Table
    label="Sessions"
    columns={['Signed in', 'Last used', 'Sign out']}
    rows={sessions.map(({ id, createdAt, lastUsedAt, isCurrent }) => [
      <Time time={createdAt} />,
      <Time time={lastUsedAt} />,
      isCurrent ? (
        'this browser'
      ) : (
        <RowButton action={page.path} command="end-session" {...page} id={id} label="Sign out" />
      ),
    ])}
  />
);

export const TokenTable = ({ tokens, ...page }: ListProps & { tokens: readonly AccessToken[] }) => (
  <Table
    label="Access tokens"
    columns={['Name', 'Scopes', 'Created', 'Expires', 'Last used', 'Revoke']}
    hasRowHeaders
    rows={tokens.map(({ id, name, scopes, createdAt, expiresAt, isExpired, lastUsedAt }) => [
      name,
      scopes.map(graphqlScopeName).join(', '),
      <LocalDay time={createdAt} />,
      <>
        {isExpired && 'expired '}
        {expiresAt === null ? 'never' : <LocalDay time={expiresAt} />}
      </>,
      <Time time={lastUsedAt} />,
      <RowButton
        action={page.path}
        command="revoke-token"
        {...page}
        id={id}
        label="Revoke"
        description={`Revoke ${name}`}
      />,
    ])}
  />
);

function NewTokenForm({ visitor, form }: { visitor: Visitor; form?: TokenFormValues }) {
  return (
    <>
      <h3 id="new-token">New access token</h3>
      {form && <Errors messages={form.errors} />}
      <PostForm action={API_KEY_PAGE_PATH} command="create-token" visitor={visitor} class="fields">
        <Field
          name="name"
          label="Name"
          value={form?.name}
          help="The program or device that will use the token, such as “watch” or “home backup”."
          required
          maxlength={MAX_TOKEN_NAME_LENGTH}
        />
        <fieldset class="box">
          <legend>Scopes</legend>
          {SCOPES.map(([scope, meaning]) => (
            <div>
              <input
                type="checkbox"
                name="scope"
                id={`scope-${scope}`}
                value={scope}
                checked={form?.scopes.includes(scope)}
              />{' '}
              <label class="inline" for={`scope-${scope}`}>
                {meaning.replace(/\.$/, '')}
              </label>
            </div>
          ))}
        </fieldset>
        <Field
          name="days"
          label="Expires"
          value={form?.lifetimeDays}
          choices={TOKEN_LIFETIME_CHOICES}
        />
        <div>
          <button>Create access token</button>
        </div>
      </PostForm>
    </>
  );
}

export function AccessTokenSection({
  tokens,
  visitor,
  form,
}: {
  tokens: readonly AccessToken[];
  visitor: Visitor;
  form?: TokenFormValues;
}) {
  return (
    <>
      <h2 id="tokens">Access tokens</h2>
      <p>
        Programs use access tokens like the API key, but each token is limited to its scopes and can
        be revoked separately.
      </p>
      {tokens.length > 0 && (
        <TokenTable tokens={tokens} visitor={visitor} path={API_KEY_PAGE_PATH} />
      )}
      {tokens.length > 1 && (
        <details>
          <summary>Revoke all</summary>
          <p>
            Every program that uses one of these tokens loses access. The API key remains valid.
          </p>
          <PostForm action={API_KEY_PAGE_PATH} command="revoke-tokens" visitor={visitor}>
            <button class="danger">Revoke all access tokens</button>
          </PostForm>
        </details>
      )}
      <NewTokenForm visitor={visitor} form={form} />
    </>
  );
}

export function SecurityEventSection({ events }: { events: readonly StoredSecurityEvent[] }) {
  return (
    <>
      <h2>Recent security events</h2>
      <Table
        label="Recent security events"
        columns={['Time', 'Event', 'Source', 'Details']}
        rows={events.map(({ occurredAt, kind, address, detail }) => [
          <Time time={occurredAt} />,
          EVENT_KINDS[kind],
          address ?? 'an operator',
          detail,
        ])}
      />
    </>
  );
}
