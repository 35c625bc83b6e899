/** Sections of the API key page below the key: access tokens and recent security events. */
import type { ComponentChildren } from 'preact';
import { type StoredAccessToken, SCOPES } from '../../accounts/access-tokens';
import { graphqlScopeName } from '../../engine/access/scopes';
import type { AccountService } from '../../request/account';
import { CopyButton } from '../copy-button';
import { API_KEY_PAGE_PATH } from './account-paths';
import type { Visitor } from '../layout';
import { LocalDay, LocalTime } from '../local-times';
import { Table } from '../table';

export type SecurityEventList = Awaited<ReturnType<AccountService['listSecurityEvents']>>;

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

export const Minute = ({ timestamp }: { timestamp: string }) => (
  <LocalTime
    time={timestamp}
    text={timestamp.slice(0, 'YYYY-MM-DDThh:mm'.length).replace('T', ' ')}
  />
);

export type ApiKeyPageAction =
  'show' | 'make' | 'replace' | 'create-token' | 'revoke-token' | 'revoke-tokens';

/** A form with a button, by default of the API key page. */
export function ActionForm(props: {
  path?: string;
  action: string;
  visitor: Visitor;
  class?: string;
  children: ComponentChildren;
}) {
  const { action, visitor, children } = props;

  return (
    <form method="post" action={props.path ?? API_KEY_PAGE_PATH} class={props.class ?? 'inline'}>
      <input type="hidden" name="csrfToken" value={visitor.csrfToken} />
      <input type="hidden" name="action" value={action} />
      {children}
    </form>
  );
}

function TokenTable({
  tokens,
  visitor,
}: {
  tokens: readonly StoredAccessToken[];
  visitor: Visitor;
}) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Access tokens">
      <table>
        <thead>
          <tr>
            {['Name', 'Scopes', 'Created', 'Expires', 'Last used', 'Revoke'].map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tokens.map(({ id, name, scopes, createdAt, expiresAt, isExpired, lastUsedAt }) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{scopes.map(graphqlScopeName).join(', ')}</td>
              <td>
                <LocalDay time={createdAt} />
              </td>
              <td>
                {isExpired && 'expired '}
                {expiresAt === null ? 'never' : <LocalDay time={expiresAt} />}
              </td>
              <td>{lastUsedAt === null ? 'never' : <Minute timestamp={lastUsedAt} />}</td>
              <td>
                <ActionForm action="revoke-token" visitor={visitor}>
                  <input type="hidden" name="id" value={id} />
                  <button class="plain" aria-label={`Revoke ${name}`}>
                    Revoke
                  </button>
                </ActionForm>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NewTokenForm({ visitor, form }: { visitor: Visitor; form?: TokenFormValues }) {
  return (
    <>
      <h3 id="new-token">New access token</h3>
      {form && (
        <div class="alert" role="alert">
          {form.errors.map((error) => (
            <p class="error">{error}</p>
          ))}
        </div>
      )}
      <ActionForm action="create-token" visitor={visitor} class="fields">
        <div>
          <label for="token-name">Name</label>
          <input
            id="token-name"
            name="name"
            required
            maxlength={100}
            value={form?.name}
            autocomplete="off"
            aria-describedby="token-name-help"
          />
          <p class="help" id="token-name-help">
            The program or device that will use the token, such as “watch” or “home backup”.
          </p>
        </div>
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
        <div>
          <label for="token-days">Expires</label>
          <select id="token-days" name="days">
            {TOKEN_LIFETIME_CHOICES.map(([days, label]) => (
              <option value={days} selected={form?.lifetimeDays === days}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <div>
          <button>Create access token</button>
        </div>
      </ActionForm>
    </>
  );
}

export function NewTokenNotice({ token }: { token: string }) {
  return (
    <div class="notice" role="status">
      <p>This is your new access token. Copy it now: it will not be shown again.</p>
      <div class="row">
        <code id="token">{token}</code>
        <CopyButton sourceId="token" label="Copy token" />
      </div>
    </div>
  );
}

export function AccessTokenSection({
  tokens,
  visitor,
  form,
}: {
  tokens: readonly StoredAccessToken[];
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
      {tokens.length > 0 && <TokenTable tokens={tokens} visitor={visitor} />}
      {tokens.length > 1 && (
        <details>
          <summary>Revoke all</summary>
          <p>
            Every program that uses one of these tokens loses access. The API key remains valid.
          </p>
          <ActionForm action="revoke-tokens" visitor={visitor}>
            <button class="danger">Revoke all access tokens</button>
          </ActionForm>
        </details>
      )}
      <NewTokenForm visitor={visitor} form={form} />
    </>
  );
}

export function SecurityEventSection({ events }: { events: SecurityEventList }) {
  return (
    <>
      <h2>Recent security events</h2>
      <Table
        label="Recent security events"
        columns={['Time', 'Event', 'Source', 'Details']}
        rows={events.map(({ occurredAt, description, address, detail }) => [
          <Minute timestamp={occurredAt} />,
          description,
          address ?? 'an operator',
          detail,
        ])}
      />
    </>
  );
}
