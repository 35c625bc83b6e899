/**
 * Sign-in at an OpenID Connect provider: authorization code flow with PKCE
 * (https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth). State, nonce and code
 * verifier are kept encrypted in a cookie of the browser that begins the sign-in.
 */
import type { Configuration, CustomFetch } from 'openid-client' with {
  'resolution-mode': 'import',
};
import type { Logger } from 'pino';
import { ClientError } from '../engine/declare/errors';
import type { Config } from '../shared/config';
import type { UserRoles } from './accounts';
import type { TokenVault } from './tokens';

const PROVIDER_TIMEOUT_SECONDS = 10;
const RETRY_AFTER_SECONDS = 10;
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const SUBJECT_PATTERN = /^[\x20-\x7e]{1,255}$/;

/** Purpose of a sign-in at the provider. */
export interface ProviderSignIn {
  /** Path of the page to open afterwards. */
  next?: string;

  /** The signed-in user who connects the provider to their account. */
  userId?: number;
}

interface StartedSignIn extends ProviderSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** A user of the provider. */
export interface ProviderUser {
  issuer: string;
  subject: string;
  username: string;
  email?: string;
  isEmailVerified: boolean;

  /** Roles that follow the groups of the user; absent if no group is configured for them. */
  roles: Partial<UserRoles>;
}

/** Loaded at the first sign-in, because most servers have no provider. */
const loadClient = () => import('openid-client');

type OpenIdClient = Awaited<ReturnType<typeof loadClient>>;

/** Limits the size of the responses of the provider. */
const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const chunks: Uint8Array[] = [];
  let bytes = 0;

  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error('The response of the provider is too large.');
    chunks.push(chunk);
  }

  return new Response(bytes ? Buffer.concat(chunks) : null, response);
};

export class OpenIdProvider {
  private configuration?: Promise<Configuration>;

  constructor(
    private readonly config: Config,
    private readonly tokenVault: TokenVault,
    private readonly log: Logger,
  ) {}

  /** Reads the configuration of the provider, and again after a failure. */
  private discover(client: OpenIdClient): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecret } = this.config;
    const issuer = new URL(oidcIssuer!);
    const options = {
      timeout: PROVIDER_TIMEOUT_SECONDS,
      [client.customFetch]: fetchBounded,
      execute: [client.enableNonRepudiationChecks],
    };

    if (issuer.protocol === 'http:') options.execute.push(client.allowInsecureRequests);

    this.configuration ??= client
      .discovery(issuer, oidcClientId!, oidcClientSecret, undefined, options)
      .catch((error: unknown) => {
        this.configuration = undefined;
        throw error;
      });

    return this.configuration;
  }

  /**
   * Throws UNAUTHENTICATED if the provider rejects the sign-in, and SERVICE_UNAVAILABLE if it fails.
   */
  private async useProvider<T>(
    callback: (client: OpenIdClient, configuration: Configuration) => Promise<T>,
  ): Promise<T> {
    const client = await loadClient();

    try {
      return await callback(client, await this.discover(client));
    } catch (error) {
      if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant') {
        throw this.rejectionError();
      }

      this.log.warn({ err: error }, 'the OpenID Connect provider failed');
      throw new ClientError(
        'SERVICE_UNAVAILABLE',
        `The sign-in with ${this.config.oidcLabel} is not available at the moment. Try again later, or sign in with your password.`,
        { retryAfter: RETRY_AFTER_SECONDS },
      );
    }
  }

  private rejectionError(): ClientError {
    return new ClientError('UNAUTHENTICATED', `${this.config.oidcLabel} has rejected the sign-in.`);
  }

  /** Begins a sign-in. Returns the URL of the provider and the value of the cookie. */
  begin(
    redirectUri: string,
    signIn: ProviderSignIn,
  ): Promise<{ url: string; cookieValue: string }> {
    return this.useProvider(async (client, configuration) => {
      const state = client.randomState();
      const nonce = client.randomNonce();
      const codeVerifier = client.randomPKCECodeVerifier();
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: this.config.oidcScopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      });
      const cookieText = JSON.stringify({ ...signIn, state, nonce, codeVerifier });

      return {
        url: url.href,
        cookieValue: this.tokenVault.encrypt(cookieText).toString('base64url'),
      };
    });
  }

  /**
   * Decrypts the cookie of the sign-in that the URL completes. Throws UNAUTHENTICATED for the cookie
   * of another sign-in, and if the URL reports an error.
   */
  openCookie(redirectUrl: URL, cookieValue: string): StartedSignIn {
    const cookieText = this.tokenVault.decrypt(Buffer.from(cookieValue, 'base64url'));
    const startedSignIn = JSON.parse(cookieText ?? '{}') as Partial<StartedSignIn>;
    const { searchParams } = redirectUrl;

    if (startedSignIn.state === undefined || searchParams.get('state') !== startedSignIn.state) {
      throw new ClientError(
        'UNAUTHENTICATED',
        'This sign-in has expired, or was started in another browser.',
      );
    }

    if (searchParams.has('error')) throw this.rejectionError();

    return startedSignIn as StartedSignIn;
  }

  /** Completes a sign-in with the URL to which the provider has redirected the browser. */
  complete(redirectUrl: URL, { state, nonce, codeVerifier }: StartedSignIn): Promise<ProviderUser> {
    return this.useProvider(async (client, configuration) => {
      const tokens = await client.authorizationCodeGrant(configuration, redirectUrl, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
      });
      const claims = { ...tokens.claims()! };

      if (!SUBJECT_PATTERN.test(claims.sub)) throw new Error('The provider sent an invalid sub.');

      if (configuration.serverMetadata().userinfo_endpoint) {
        Object.assign(
          claims,
          await client.fetchUserInfo(configuration, tokens.access_token, claims.sub),
        );
      }

      return this.userOf(claims);
    });
  }

  private userOf({ sub, email, ...claims }: Record<string, unknown> & { sub: string }) {
    const { oidcIssuer, oidcGroupsClaim, oidcCuratorGroup, oidcSuperuserGroup } = this.config;
    const groups = [claims[oidcGroupsClaim]].flat();
    const user: ProviderUser = {
      issuer: oidcIssuer!,
      subject: sub,
      username: String(claims.preferred_username ?? email ?? sub),
      email: email as string | undefined,
      isEmailVerified: String(claims.email_verified) === 'true',
      roles: {},
    };

    if (oidcCuratorGroup) user.roles.isCurator = groups.includes(oidcCuratorGroup);
    if (oidcSuperuserGroup) user.roles.isSuperuser = groups.includes(oidcSuperuserGroup);

    return user;
  }
}
