/**
 * Account page: profile and preferences, password, sign-in at a provider, sessions and deletion,
 * which has a confirmation page.
 */
import type { JSX } from 'preact';
import type { RowCount } from '../../accounts/deletion';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../accounts/accounts';
import type { AccountService } from '../../request/account';
import { ActionForm, Minute } from './account-sections';
import {
  ACCOUNT_PAGE_PATH,
  API_KEY_PAGE_PATH,
  DELETE_ACCOUNT_PATH,
  PROVIDER_SIGN_IN_PATH,
} from './account-paths';
import { renderPage, type Visitor } from '../layout';
import { LocalTimesScript, TimeZoneNote } from '../local-times';
import { Table } from '../table';

/** Values of the profile form. Empty texts stand for null. */
export interface ProfileValues {
  firstName: string;
  lastName: string;
  email: string;
  unitSystem: string;
  preferredLanguageId: string;
  timeZone: string;
}

export interface AccountPageProps extends Awaited<ReturnType<AccountService['loadSignIns']>> {
  visitor: Visitor;
  profile: ProfileValues;
  languages: readonly { id: string; fullName: string }[];

  /** Time zone in which the page shows times. */
  timeZone: string;

  /** Time zone of the server, which applies if the user prefers none. */
  serverTimeZone: string;

  /** Name of the provider at which people may sign in. */
  providerLabel?: string;
  notice?: string;
  errors?: readonly string[];
}

function TextInput({
  label,
  ...attributes
}: JSX.IntrinsicElements['input'] & { name: string; label: string }) {
  return (
    <div>
      <label for={attributes.name}>{label}</label>
      <input id={attributes.name} {...attributes} />
    </div>
  );
}

function Select(props: {
  name: keyof ProfileValues;
  label: string;
  profile: ProfileValues;
  options: readonly (readonly [value: string, label: string])[];
}) {
  const { name, label, profile, options } = props;

  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {options.map(([value, text]) => (
          <option value={value} selected={profile[name] === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function ProfileForm({ visitor, profile, languages, serverTimeZone }: AccountPageProps) {
  const timeZones = new Set([profile.timeZone, ...Intl.supportedValuesOf('timeZone')]);

  timeZones.delete('');

  return (
    <ActionForm path={ACCOUNT_PAGE_PATH} action="save-profile" visitor={visitor} class="fields">
      <TextInput
        name="firstName"
        label="First name"
        value={profile.firstName}
        maxlength={150}
        autocomplete="given-name"
      />
      <TextInput
        name="lastName"
        label="Last name"
        value={profile.lastName}
        maxlength={150}
        autocomplete="family-name"
      />
      <TextInput
        name="email"
        type="email"
        label="E-mail address"
        value={profile.email}
        maxlength={254}
        autocomplete="email"
      />
      <Select
        name="unitSystem"
        label="Unit of new weights"
        profile={profile}
        options={[
          ['METRIC', 'Kilograms'],
          ['IMPERIAL', 'Pounds'],
        ]}
      />
      <Select
        name="preferredLanguageId"
        label="Language of names"
        profile={profile}
        options={[
          ['', 'As in the browser'],
          ...languages.map(({ id, fullName }) => [id, fullName] as const),
        ]}
      />
      <Select
        name="timeZone"
        label="Time zone"
        profile={profile}
        options={[
          ['', `That of the server (${serverTimeZone})`],
          ...[...timeZones].sort().map((zone) => [zone, zone] as const),
        ]}
      />
      <div>
        <button>Save</button>
      </div>
    </ActionForm>
  );
}

function PasswordSection({ visitor, hasPassword }: AccountPageProps) {
  return (
    <>
      <h2>Password</h2>
      {!hasPassword && <p>This account has no password, because you sign in in another way.</p>}
      {hasPassword && (
        <>
          <p>
            A new password replaces the API key, revokes all access tokens and signs you out of all
            other browsers.
          </p>
          <ActionForm
            path={ACCOUNT_PAGE_PATH}
            action="change-password"
            visitor={visitor}
            class="fields"
          >
            <TextInput
              name="oldPassword"
              label="Current password"
              type="password"
              required
              autocomplete="current-password"
            />
            <TextInput
              name="newPassword"
              label={`New password (at least ${MIN_PASSWORD_LENGTH} characters)`}
              type="password"
              required
              minlength={MIN_PASSWORD_LENGTH}
              maxlength={MAX_PASSWORD_LENGTH}
              autocomplete="new-password"
            />
            <div>
              <button>Change password</button>
            </div>
          </ActionForm>
        </>
      )}
    </>
  );
}

function ProviderSection({ visitor, issuers, providerLabel }: AccountPageProps) {
  if (providerLabel === undefined && !issuers.length) return null;

  return (
    <>
      <h2>Connected sign-ins</h2>
      {issuers.map((issuer) => (
        <p>
          <code>{issuer}</code>
        </p>
      ))}
      {!issuers.length && (
        <ActionForm path={PROVIDER_SIGN_IN_PATH} action="connect" visitor={visitor}>
          <button class="plain">Connect {providerLabel}</button>
        </ActionForm>
      )}
    </>
  );
}

function SessionSection({ visitor, sessions }: AccountPageProps) {
  return (
    <>
      <h2>Sessions</h2>
      <Table
        label="Sessions"
        columns={['Signed in', 'Last used', 'Sign out']}
        rows={sessions.map(({ id, createdAt, lastUsedAt, isCurrent }) => [
          <Minute timestamp={createdAt} />,
          <Minute timestamp={lastUsedAt} />,
          isCurrent ? (
            'this browser'
          ) : (
            <ActionForm path={ACCOUNT_PAGE_PATH} action="end-session" visitor={visitor}>
              <input type="hidden" name="id" value={id} />
              <button class="plain">Sign out</button>
            </ActionForm>
          ),
        ])}
      />
      <p>
        Signing out of all browsers includes this one. The API key and access tokens stay valid.
      </p>
      <ActionForm path={ACCOUNT_PAGE_PATH} action="end-sessions" visitor={visitor}>
        <button class="plain">End all sessions</button>
      </ActionForm>
    </>
  );
}

export function renderAccountPage(props: AccountPageProps): string {
  const { visitor, notice, errors, timeZone } = props;

  return renderPage({
    title: errors ? 'Error: Account' : 'Account',
    visitor,
    crumbs: [{ label: 'Account' }],
    children: (
      <>
        <h1>Account of {visitor.username}</h1>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        {errors && (
          <div class="alert" role="alert">
            {errors.map((error) => (
              <p class="error">{error}</p>
            ))}
          </div>
        )}
        <ProfileForm {...props} />
        <PasswordSection {...props} />
        <ProviderSection {...props} />
        <SessionSection {...props} />
        <TimeZoneNote timeZone={timeZone} />
        <h2>Programs</h2>
        <p>
          <a href={API_KEY_PAGE_PATH}>API key, access tokens and security events</a>
        </p>
        <h2>Deletion</h2>
        <p>
          <a href={DELETE_ACCOUNT_PATH}>Delete the account…</a>
        </p>
        <LocalTimesScript />
      </>
    ),
  });
}

export function renderDeleteAccountPage(
  visitor: Visitor,
  rowCounts: readonly RowCount[],
  errorMessage?: string,
): string {
  return renderPage({
    title: 'Delete the account',
    visitor,
    crumbs: [{ label: 'Account', href: ACCOUNT_PAGE_PATH }, { label: 'Delete' }],
    children: (
      <>
        <h1>Delete the account {visitor.username}?</h1>
        <p class="alert">
          The account and everything below are deleted at once and cannot be restored. Contributions
          to the catalogue are deleted for everybody.
        </p>
        <ul>
          {rowCounts.map(({ label, count, isContribution }) => (
            <li>
              {label}: {count}
              {isContribution && ' (contributed)'}
            </li>
          ))}
        </ul>
        <ActionForm path={DELETE_ACCOUNT_PATH} action="delete" visitor={visitor} class="fields">
          {errorMessage !== undefined && (
            <p class="error" role="alert">
              {errorMessage}
            </p>
          )}
          <TextInput name="username" label="Type your user name to confirm" autocomplete="off" />
          <div class="row">
            <button class="danger">Delete the account</button>
            <a class="button plain" href={ACCOUNT_PAGE_PATH}>
              Cancel
            </a>
          </div>
        </ActionForm>
      </>
    ),
  });
}
