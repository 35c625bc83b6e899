/**
 * Account page: profile and preferences, password, sign-in at a provider, sessions and deletion,
 * which has a confirmation page.
 */
import type { RowCount } from '../../accounts/deletion';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../accounts/accounts';
import type { AccountService } from '../../request/account';
import { SessionTable } from './account-sections';
import {
  ACCOUNT_PAGE_PATH,
  API_KEY_PAGE_PATH,
  DELETE_ACCOUNT_PATH,
  PROVIDER_SIGN_IN_PATH,
} from './account-paths';
import { Errors, Field, PostForm } from './fields';
import { renderPage, type Visitor } from '../layout';
import { LocalTimesScript, TimeZoneNote } from '../local-times';

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

function ProfileForm({ visitor, profile, languages, serverTimeZone }: AccountPageProps) {
  const timeZones = new Set([profile.timeZone, ...Intl.supportedValuesOf('timeZone')]);

  timeZones.delete('');

  return (
    <PostForm action={ACCOUNT_PAGE_PATH} command="save-profile" visitor={visitor} class="fields">
      <Field
        name="firstName"
        label="First name"
        value={profile.firstName}
        maxlength={150}
        autocomplete="given-name"
      />
      <Field
        name="lastName"
        label="Last name"
        value={profile.lastName}
        maxlength={150}
        autocomplete="family-name"
      />
      <Field
        name="email"
        type="email"
        label="E-mail address"
        value={profile.email}
        maxlength={254}
        autocomplete="email"
      />
      <Field
        name="unitSystem"
        label="Unit of new weights"
        value={profile.unitSystem}
        choices={[
          ['METRIC', 'Kilograms'],
          ['IMPERIAL', 'Pounds'],
        ]}
      />
      <Field
        name="preferredLanguageId"
        label="Language of names"
        value={profile.preferredLanguageId}
        choices={[
          ['', 'As in the browser'],
          ...languages.map(({ id, fullName }) => [id, fullName] as const),
        ]}
      />
      <Field
        name="timeZone"
        label="Time zone"
        value={profile.timeZone}
        choices={[
          ['', `That of the server (${serverTimeZone})`],
          ...[...timeZones].sort().map((zone) => [zone, zone] as const),
        ]}
      />
      <div>
        <button>Save</button>
      </div>
    </PostForm>
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
            A new password replaces the API key, revokes all access tokens, disconnects other
            sign-ins and signs you out of all other browsers.
          </p>
          <PostForm
            action={ACCOUNT_PAGE_PATH}
            command="change-password"
            visitor={visitor}
            class="fields"
          >
            <Field
              name="oldPassword"
              label="Current password"
              type="password"
              required
              autocomplete="current-password"
            />
            <Field
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
          </PostForm>
        </>
      )}
    </>
  );
}

function ProviderSection({ visitor, issuers, providerLabel, hasPassword }: AccountPageProps) {
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
        <PostForm action={PROVIDER_SIGN_IN_PATH} command="connect" visitor={visitor}>
          <button class="plain">Connect {providerLabel}</button>
        </PostForm>
      )}
      {issuers.length > 0 && hasPassword && (
        <PostForm action={ACCOUNT_PAGE_PATH} command="disconnect" visitor={visitor}>
          <button class="plain">Disconnect</button>
        </PostForm>
      )}
    </>
  );
}

function SessionSection({ visitor, sessions }: AccountPageProps) {
  return (
    <>
      <h2>Sessions</h2>
      <SessionTable sessions={sessions} visitor={visitor} path={ACCOUNT_PAGE_PATH} />
      <p>
        Signing out of all browsers includes this one. The API key and access tokens stay valid.
      </p>
      <PostForm action={ACCOUNT_PAGE_PATH} command="end-sessions" visitor={visitor}>
        <button class="plain">End all sessions</button>
      </PostForm>
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
        {errors && <Errors messages={errors} />}
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
        <PostForm action={DELETE_ACCOUNT_PATH} command="delete" visitor={visitor} class="fields">
          {errorMessage !== undefined && (
            <p class="error" role="alert">
              {errorMessage}
            </p>
          )}
          <Field name="username" label="Type your user name to confirm" autocomplete="off" />
          <div class="row">
            <button class="danger">Delete the account</button>
            <a class="button plain" href={ACCOUNT_PAGE_PATH}>
              Cancel
            </a>
          </div>
        </PostForm>
      </>
    ),
  });
}
