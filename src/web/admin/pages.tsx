/**
 * Pages of superusers: accounts, audit log, health and load. `ADMIN_PAGES` lists them for the start
 * page.
 */
import { DateTime } from 'luxon';
import type { ComponentChildren } from 'preact';
import type { UserRoles } from '../../accounts/accounts';
import { EVENT_KINDS, isEventKind } from '../../accounts/event-kinds';
import type { AccountFilter, Administration, Account } from '../../accounts/administration';
import type { AccountUsage } from '../../accounts/usage';
import type { PasswordLink } from '../../accounts/password-links';
import type { StoredSecurityEvent } from '../../accounts/security-events';
import { invalidArgumentError } from '../../engine/declare/errors';
import { parseRowId } from '../../engine/declare/node';
import { NO_NULL_CHARACTERS_MESSAGE } from '../../shared/messages';
import { MOMENT_FORMATS, parseMoment } from '../../shared/moments';
import { CATALOGUE_PATH } from '../catalogue/request';
import { SessionTable, TokenTable } from '../account/account-sections';
import { Field, NextLink, PostForm, SecretNotice, Time } from '../account/fields';
import type { UserPage, UserRequest } from '../account/user-pages';
import { CopyScript } from '../copy-button';
import { textParameter, type FormValues } from '../html-response';
import type { Crumb, Visitor } from '../layout';
import { Table } from '../table';

export const ADMIN_PATH = '/admin';
export const ADMIN_START: Crumb = { label: 'Administration', href: ADMIN_PATH };
export const ACCOUNTS_PATH = `${ADMIN_PATH}/accounts`;

const PAGE_SIZE = 50;

export interface AdminRequest extends UserRequest {
  administration: Administration;
}

/** A text of the query string; undefined if it is absent or empty. */
function readText(query: FormValues, name: string): string | undefined {
  const text = textParameter(query, name) || undefined;

  if (text?.includes('\0')) throw invalidArgumentError(name, NO_NULL_CHARACTERS_MESSAGE);

  return text;
}

function readMoment({ query, context }: AdminRequest, name: string): string | undefined {
  const text = readText(query, name);

  if (text === undefined) return undefined;
  const moment = parseMoment(text, context.timeZone);

  if (moment === undefined) throw invalidArgumentError(name, `This must be ${MOMENT_FORMATS}.`);

  return moment;
}

const olderThanId = (query: FormValues) => parseRowId(textParameter(query, 'after'));

/** Link to the next page of a list, if this page is full. */
const OlderLink = ({ rows, query }: { rows: readonly { id: number }[]; query: FormValues }) => {
  const lastId = rows[PAGE_SIZE - 1]?.id;

  return <NextLink label="Older" query={{ ...query, after: lastId && String(lastId) }} />;
};

const ACCOUNT_FILTERS: Readonly<Record<string, AccountFilter>> = {
  all: {},
  active: { isActive: true },
  deactivated: { isActive: false },
  superusers: { isSuperuser: true },
  curators: { isCurator: true },
};

const accountState = ({ isActive, isSuperuser, isCurator }: AccountFilter) =>
  [!isActive && 'deactivated', isSuperuser && 'superuser', isCurator && 'curator']
    .filter(Boolean)
    .join(', ');

async function renderAccounts({ administration, query, visitor }: AdminRequest) {
  const search = readText(query, 'search');
  const show = textParameter(query, 'show') ?? 'all';
  const accounts = await administration.findAccounts(
    { search, ...ACCOUNT_FILTERS[show] },
    { olderThanId: olderThanId(query), limit: PAGE_SIZE },
  );

  return (
    <>
      <form class="fields filters">
        <Field name="search" label="Part of the name or e-mail address" value={search} />
        <Field name="show" label="Show" value={show} choices={Object.keys(ACCOUNT_FILTERS)} />
        <div>
          <button class="plain">Search</button>
        </div>
      </form>
      <Table
        label="Accounts"
        columns={['Name', 'E-mail', 'State', 'Joined', 'Last sign-in']}
        rows={accounts.map((account) => [
          <a href={`${ACCOUNTS_PATH}/${account.id}`}>{account.username}</a>,
          account.email,
          accountState(account),
          <Time time={account.joinedAt} />,
          <Time time={account.lastLoginAt} />,
        ])}
      />
      <OlderLink rows={accounts} query={query} />
      <h2>New account</h2>
      <PostForm action={ACCOUNTS_PATH} visitor={visitor} class="fields">
        <Field name="username" label="User name" />
        <Field name="email" label="E-mail address" />
        <div>
          <button>Create account</button>
        </div>
      </PostForm>
    </>
  );
}

interface AccountAction {
  label: string;

  /** Whether the button is offered for this state of the account. */
  isOffered?(account: Account): boolean;
  run(administration: Administration, id: number): Promise<unknown>;
}

const roleAction = (label: string, role: keyof UserRoles, isGranted: boolean): AccountAction => ({
  label,
  isOffered: (account) => account[role] !== isGranted,
  run: (administration, id) => administration.setRoles(id, { [role]: isGranted }),
});

const activationAction = (label: string, isActive: boolean): AccountAction => ({
  label,
  isOffered: (account) => account.isActive !== isActive,
  run: (administration, id) => administration.setActive(id, isActive),
});

export const ACCOUNT_ACTIONS: Readonly<Record<string, AccountAction>> = {
  'sign-out': {
    label: 'End all sessions and revoke all tokens',
    run: (administration, id) => administration.signOut(id),
  },
  disconnect: {
    label: 'Disconnect sign-ins',
    run: (administration, id) => administration.disconnect(id),
  },
  activate: activationAction('Activate', true),
  deactivate: activationAction('Deactivate', false),
  'grant-curator': roleAction('Make curator', 'isCurator', true),
  'revoke-curator': roleAction('Revoke curator', 'isCurator', false),
  'grant-superuser': roleAction('Make superuser', 'isSuperuser', true),
  'revoke-superuser': roleAction('Revoke superuser', 'isSuperuser', false),
};

const AccountTable = ({ account, usage }: { account: Account; usage: AccountUsage }) => (
  <Table
    label="Account"
    columns={['E-mail', 'State', 'Joined', 'Last sign-in', 'Sessions', 'Tokens', 'Rows', 'Images']}
    rows={[
      [
        account.email,
        accountState(account) || 'active',
        <Time time={account.joinedAt} />,
        <Time time={account.lastLoginAt} />,
        usage.sessionCount,
        usage.accessTokenCount,
        usage.rowCount,
        `${Math.ceil(usage.imageBytes / 1024)} KB`,
      ],
    ]}
  />
);

const DeletionForm = ({ action, visitor }: { action: string; visitor: Visitor }) => (
  <details>
    <summary>Delete</summary>
    <PostForm action={action} visitor={visitor} class="fields">
      <Field
        name="confirmation"
        label="User name"
        help="Deletes the account with all data and files. This can’t be undone. Enter the user name to confirm."
      />
      <div>
        <button class="danger" name="action" value="delete">
          Delete account
        </button>
      </div>
    </PostForm>
  </details>
);

const EventTable = ({ events }: { events: readonly StoredSecurityEvent[] }) => (
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

/** The page of one account, with the link that was just created. */
export async function accountPage(
  { administration, context, visitor }: AdminRequest,
  account: Account,
  link?: PasswordLink,
): Promise<UserPage> {
  const [usage] = await administration.readUsage([account.id]);
  const [sessions] = await administration.readSessions([account.id]);
  const [tokens] = await administration.readAccessTokens([account.id]);
  const events = await administration.findEvents({ username: account.username }, 10);
  const action = `${ACCOUNTS_PATH}/${account.id}`;
  const actions = Object.entries(ACCOUNT_ACTIONS).filter(
    ([, { isOffered }]) => isOffered?.(account) ?? true,
  );

  return {
    title: account.username,
    hasTimes: true,
    content: (
      <>
        {link && (
          <SecretNotice id="link" secret={context.request.baseUrl + link.path}>
            Give this link to the user only. It is valid once and for a day, and not shown again.
            <CopyScript />
          </SecretNotice>
        )}
        <AccountTable account={account} usage={usage!} />
        <h2>Actions</h2>
        <PostForm action={action} visitor={visitor} class="row">
          <button name="action" value="create-link">
            Create a link to set a password
          </button>
          {actions.map(([name, { label }]) => (
            <button class="plain" name="action" value={name}>
              {label}
            </button>
          ))}
        </PostForm>
        <DeletionForm action={action} visitor={visitor} />
        <h2>Sessions</h2>
        <SessionTable sessions={sessions!} visitor={visitor} path={action} />
        <h2>Access tokens</h2>
        <TokenTable tokens={tokens!} visitor={visitor} path={action} />
        <h2>Latest events</h2>
        <EventTable events={events} />
      </>
    ),
  };
}

async function renderAudit(request: AdminRequest) {
  const { administration, query } = request;
  const kind = readText(query, 'kind') ?? '';
  const filter = {
    username: readText(query, 'user'),
    kinds: isEventKind(kind) ? [kind] : undefined,
    address: readText(query, 'address'),
    since: readMoment(request, 'since'),
    until: readMoment(request, 'until'),
    olderThanId: olderThanId(query),
  };
  const events = await administration.findEvents(filter, PAGE_SIZE);

  return (
    <>
      <form class="fields filters">
        <Field name="user" label="Account" value={filter.username} />
        <Field name="kind" label="Event" value={kind} choices={['', ...Object.keys(EVENT_KINDS)]} />
        <Field name="address" label="Address" value={filter.address} />
        <Field name="since" label="Since" value={readText(query, 'since')} help={MOMENT_FORMATS} />
        <Field name="until" label="Until" value={readText(query, 'until')} />
        <div>
          <button class="plain">Show</button>
        </div>
      </form>
      <EventTable events={events} />
      <OlderLink rows={events} query={query} />
    </>
  );
}

async function renderHealth({ context }: AdminRequest) {
  const { healthReport } = context.services;
  const findings = await healthReport.read();

  return (
    <>
      {healthReport.isRunning && (
        <p class="alert">The checks take long. Reload the page for all results.</p>
      )}
      <Table
        label="Checks"
        columns={['Result', 'Check', 'Finding', 'Advice']}
        rows={findings.map(({ result, topic, text, advice }) => [result, topic, text, advice])}
      />
    </>
  );
}

async function renderLoad({ context }: AdminRequest) {
  const { costRateLimiter, slowRequests, timeZone } = context.services;
  const budgets = await costRateLimiter.readFullest();

  return (
    <>
      <h2>Budgets</h2>
      <p>The users and networks that have spent most of their budgets.</p>
      <Table
        label="Budgets"
        columns={['Client', 'Spent', 'Last request']}
        rows={budgets.map(({ key, username, share, at }) => [
          username ?? key,
          `${Math.round(share * 100)} %`,
          <Time time={at} />,
        ])}
      />
      <h2>Slow requests</h2>
      <p>The latest requests that took half a second or more in this process ({process.pid}).</p>
      <Table
        label="Slow requests"
        columns={['End', 'ms', 'Request', 'Operation', 'Statements', 'Id']}
        rows={slowRequests.latest.map(({ endedAt, ms, method, path, ...request }) => [
          <Time time={DateTime.fromMillis(endedAt, { zone: timeZone }).toISO()} />,
          ms,
          `${method} ${path}`,
          request.operation,
          request.statements,
          request.id,
        ])}
      />
    </>
  );
}

interface AdminPage {
  title: string;
  description: string;
  render(request: AdminRequest): Promise<ComponentChildren>;
}

export const ADMIN_PAGES: Readonly<Record<string, AdminPage>> = {
  [ACCOUNTS_PATH]: {
    title: 'Accounts',
    description: 'Create, deactivate and delete accounts, and grant roles.',
    render: renderAccounts,
  },
  [`${ADMIN_PATH}/audit`]: {
    title: 'Audit log',
    description: 'Sign-ins, passwords, tokens, and changes of accounts.',
    render: renderAudit,
  },
  [`${ADMIN_PATH}/health`]: {
    title: 'Health',
    description: 'What fitgraph doctor finds on this server.',
    render: renderHealth,
  },
  [`${ADMIN_PATH}/load`]: {
    title: 'Load',
    description: 'Spent budgets and slow requests.',
    render: renderLoad,
  },
};

/** Pages of others that superusers need, too. */
const FURTHER_PAGES: readonly (Pick<AdminPage, 'title' | 'description'> & { path: string })[] = [
  {
    path: CATALOGUE_PATH,
    title: 'Catalogue',
    description: 'Foods and exercises that await a decision, and all types of the catalogue.',
  },
  {
    path: `${ADMIN_PATH}/audit?kind=IMPORTED`,
    title: 'Imports',
    description: 'What the imports of dumps, foods and exercises have written and refused.',
  },
];

export const StartPage = () => (
  <ul class="cards">
    {[
      ...Object.entries(ADMIN_PAGES).map(([path, page]) => ({ path, ...page })),
      ...FURTHER_PAGES,
    ].map(({ path, title, description }) => (
      <li>
        <h2>
          <a href={path}>{title}</a>
        </h2>
        <p>{description}</p>
      </li>
    ))}
  </ul>
);
