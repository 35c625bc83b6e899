/**
 * API key page: the key, usage examples, access tokens and security events. Replacing the
 * key has a confirmation page.
 */
import type { StoredAccessToken } from '../../accounts/access-tokens';
import type { ApiKey } from '../../accounts/accounts';
import { SecurityEventSection, AccessTokenSection } from './account-sections';
import type { StoredSecurityEvent } from '../../accounts/security-events';
import type { TokenFormValues } from './account-sections';
import { CopyButton, CopyScript } from '../copy-button';
import { ACCOUNT_PAGE_PATH, API_KEY_PAGE_PATH, REPLACE_API_KEY_PATH } from './account-paths';
import { PostForm, SecretNotice } from './fields';
import { renderPage, type Visitor } from '../layout';
import { LocalDay, LocalTimesScript, TimeZoneNote } from '../local-times';

export interface ApiKeyPageProps {
  visitor: Visitor;
  baseUrl: string;
  apiKey?: ApiKey;
  isKeyRevealed: boolean;
  notice?: string;
  tokens: readonly StoredAccessToken[];
  events: readonly StoredSecurityEvent[];

  /** Time zone in which the server writes times. */
  timeZone: string;

  /** Access token that this request has created. It is shown only once. */
  newToken?: string;
  form?: TokenFormValues;
}

const VISIBLE_KEY_CHARACTERS = 4;
const EXAMPLE_QUERY = '{ viewer { username } weightEntries(first: 3) { nodes { date weight } } }';

const maskToken = (token: string) =>
  token.slice(0, VISIBLE_KEY_CHARACTERS) + '•'.repeat(token.length - VISIBLE_KEY_CHARACTERS);

function ApiKeyDisplay({
  apiKey: { token, created },
  isRevealed,
  visitor,
}: {
  apiKey: ApiKey;
  isRevealed: boolean;
  visitor: Visitor;
}) {
  if (token === undefined) {
    return (
      <p class="alert">
        Your key was created on <LocalDay time={created} /> and still works, but the server can’t
        show it because the server’s secret key has changed. If you have no copy of your key,
        replace it.
      </p>
    );
  }

  return (
    <>
      <p>
        Your key was created on <LocalDay time={created} />.
      </p>
      <div class="row">
        <code id="key">{isRevealed ? token : maskToken(token)}</code>
        {isRevealed && <CopyButton sourceId="key" label="Copy key" />}
        {!isRevealed && (
          <PostForm action={API_KEY_PAGE_PATH} command="show" visitor={visitor} class="row">
            <button class="plain">Show key</button>
          </PostForm>
        )}
      </div>
    </>
  );
}

function CodeExample({ id, title, text }: { id: string; title: string; text: string }) {
  return (
    <>
      <h3 id={`${id}-title`}>{title}</h3>
      <pre tabindex={0} aria-labelledby={`${id}-title`}>
        <code id={id}>{text}</code>
      </pre>
      <CopyButton sourceId={id} label="Copy" />
    </>
  );
}

export function renderApiKeyPage({
  visitor,
  baseUrl,
  apiKey,
  isKeyRevealed,
  notice,
  tokens,
  events,
  timeZone,
  newToken,
  form,
}: ApiKeyPageProps): string {
  const authHeader = `Authorization: Token ${(isKeyRevealed && apiKey?.token) || '<key>'}`;

  return renderPage({
    title: 'API key',
    visitor,
    crumbs: [{ label: 'Account', href: ACCOUNT_PAGE_PATH }, { label: 'API key' }],
    children: (
      <>
        <h1>API key</h1>
        <p class="lead">
          Programs authenticate as you with this key. Anyone who has it can read and change all your
          data.
        </p>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        {newToken !== undefined && (
          <SecretNotice id="token" secret={newToken}>
            This is your new access token. Copy it now: it will not be shown again.
          </SecretNotice>
        )}
        {apiKey && (
          <>
            <ApiKeyDisplay apiKey={apiKey} isRevealed={isKeyRevealed} visitor={visitor} />
            <p>
              <a href={REPLACE_API_KEY_PATH}>Replace key…</a>
            </p>
          </>
        )}
        {!apiKey && (
          <>
            <p>You have no API key yet.</p>
            <PostForm action={API_KEY_PAGE_PATH} command="make" visitor={visitor} class="row">
              <button>Create key</button>
            </PostForm>
          </>
        )}
        <h2>Usage</h2>
        {apiKey?.token && !isKeyRevealed && (
          <p>
            Replace <code>&lt;key&gt;</code> with your key. If you show the key above, the examples
            contain it.
          </p>
        )}
        <CodeExample
          id="rest"
          title="REST"
          text={`curl '${baseUrl}/api/v2/weightentry/?limit=3' \\\n  -H '${authHeader}'`}
        />
        <CodeExample
          id="graphql"
          title="GraphQL"
          text={`curl ${baseUrl}/graphql -H 'Content-Type: application/json' \\\n  -H '${authHeader}' \\\n  -d '${JSON.stringify({ query: EXAMPLE_QUERY })}'`}
        />
        <AccessTokenSection tokens={tokens} visitor={visitor} form={form} />
        {events.length > 0 && <SecurityEventSection events={events} />}
        <TimeZoneNote timeZone={timeZone} />
        <CopyScript />
        <LocalTimesScript />
      </>
    ),
  });
}

export function renderReplaceApiKeyPage(visitor: Visitor, key: ApiKey): string {
  return renderPage({
    title: 'Replace the API key',
    visitor,
    crumbs: [{ label: 'API key', href: API_KEY_PAGE_PATH }, { label: 'Replace' }],
    children: (
      <>
        <h1>Replace the API key?</h1>
        <p class="alert">
          The current key stops working immediately. Every app and program that uses it needs the
          new key.
        </p>
        <PostForm action={API_KEY_PAGE_PATH} command="replace" visitor={visitor} class="row">
          <input type="hidden" name="replaced" value={key.id} />
          <button class="danger">Replace key</button>
          <a class="button plain" href={API_KEY_PAGE_PATH}>
            Cancel
          </a>
        </PostForm>
      </>
    ),
  });
}
