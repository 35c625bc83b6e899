/**
 * API key page: the key, usage examples, access tokens and security events. Replacing the
 * key has a confirmation page.
 */
import type { ApiKey } from '../../accounts/accounts';
import { SecurityEventSection, AccessTokenSection, type TokenFormValues } from './account-sections';
import { CopyButton, CopyScript } from '../copy-button';
import { API_KEY_PAGE_PATH, REPLACE_API_KEY_PATH } from './account-paths';
import { PostForm, SecretNotice } from './fields';
import type { UserPage, UserRequest } from './user-pages';
import type { Visitor } from '../layout';
import { LocalDay } from '../local-times';

interface ActionResult {
  notice?: string;

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

export async function apiKeyPage(
  { context, visitor }: UserRequest,
  isKeyRevealed: boolean,
  { notice, newToken, form }: ActionResult = {},
): Promise<UserPage> {
  const { account, request } = context;
  const { baseUrl } = request;
  const apiKey = await account.findApiKey();
  const tokens = await account.listAccessTokens();
  const events = await account.listSecurityEvents();
  const authHeader = `Authorization: Token ${(isKeyRevealed && apiKey?.token) || '<key>'}`;

  return {
    title: 'API key',
    notice,
    hasTimes: true,
    isRejection: form !== undefined,
    content: (
      <>
        <p class="lead">
          Programs authenticate as you with this key. Anyone who has it can read and change all your
          data.
        </p>
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
        <CopyScript />
      </>
    ),
  };
}

export const replacementPage = ({ visitor }: UserRequest, key: ApiKey): UserPage => ({
  title: 'Replace the API key',
  heading: 'Replace the API key?',
  crumbs: [{ label: 'API key', href: API_KEY_PAGE_PATH }],
  content: (
    <>
      <p class="alert">
        The current key stops working immediately. Every app and program that uses it needs the new
        key.
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
