/**
 * Account page: profile and preferences, password, sign-in at a provider, sessions and deletion,
 * which has a confirmation page.
 */
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../accounts/accounts';
import type { AccountService } from '../../request/account';
import type { ResultData } from '../../rest/endpoints';
import { SessionTable } from './account-sections';
import {
  ACCOUNT_PAGE_PATH,
  API_KEY_PAGE_PATH,
  DELETE_ACCOUNT_PATH,
  PROVIDER_SIGN_IN_PATH,
} from './account-paths';
import { Errors, Field, PostForm } from './fields';
import type { UserPage, UserRequest } from './user-pages';
import type { Visitor } from '../layout';

const PROFILE_QUERY = `{
  viewer { firstName lastName email profile { unitSystem preferredLanguageId timeZone } }
  languages { id fullName }
}`;

/** Values of the profile form, by the name of the field. */
type ProfileValues = Partial<Record<string, string>>;

export interface ActionResult {
  notice?: string;
  errors?: readonly string[];

  /** Values of a rejected profile form, which is shown again. */
  profile?: ProfileValues;
}

interface SectionProps extends Awaited<ReturnType<AccountService['loadSignIns']>> {
  visitor: Visitor;

  /** Name of the provider at which people may sign in. */
  providerLabel?: string;
}

interface ProfileFormProps {
  visitor: Visitor;
  profile: ProfileValues;
  languages: readonly { id: string; fullName: string }[];

  /** Time zone of the server, which applies if the user prefers none. */
  serverTimeZone: string;
}

function ProfileForm({ visitor, profile, languages, serverTimeZone }: ProfileFormProps) {
  const timeZones = new Set([profile.timeZone ?? '', ...Intl.supportedValuesOf('timeZone')]);

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

function PasswordSection({ visitor, hasPassword }: SectionProps) {
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

function ProviderSection({ visitor, issuers, providerLabel, hasPassword }: SectionProps) {
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

function SessionSection({ visitor, sessions }: SectionProps) {
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

export async function accountPage(
  { context, visitor, execute }: UserRequest,
  { notice, errors: messages, profile: rejectedProfile }: ActionResult = {},
): Promise<UserPage> {
  const { config, timeZone } = context.services;
  const { data, errors } = await execute(PROFILE_QUERY);

  if (errors) throw errors[0]!;
  const { viewer, languages } = data as ResultData;
  const { profile, ...names } = viewer;
  const signIns = await context.account.loadSignIns();
  const props = { ...signIns, visitor, providerLabel: config.oidcLabel };

  return {
    title: 'Account',
    heading: `Account of ${visitor.username}`,
    notice,
    hasTimes: true,
    isRejection: messages !== undefined,
    content: (
      <>
        {messages && <Errors messages={messages} />}
        <ProfileForm
          visitor={visitor}
          profile={rejectedProfile ?? { ...names, ...profile }}
          languages={languages}
          serverTimeZone={timeZone}
        />
        <PasswordSection {...props} />
        <ProviderSection {...props} />
        <SessionSection {...props} />
        <h2>Programs</h2>
        <p>
          <a href={API_KEY_PAGE_PATH}>API key, access tokens and security events</a>
        </p>
        <h2>Deletion</h2>
        <p>
          <a href={DELETE_ACCOUNT_PATH}>Delete the account…</a>
        </p>
      </>
    ),
  };
}

export async function deletionPage(
  { context, visitor }: UserRequest,
  errorMessage?: string,
): Promise<UserPage> {
  const rowCounts = await context.account.countRows();

  return {
    title: 'Delete the account',
    heading: `Delete the account ${visitor.username}?`,
    isRejection: errorMessage !== undefined,
    content: (
      <>
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
  };
}
