/**
 * Sign-in at an OpenID Connect provider: authorization code flow with PKCE
 * (https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth). State, nonce and code
 * verifier are kept encrypted in a cookie of the browser that begins the sign-in.
 */
import type { CustomFetch } from 'openid-client' with { 'resolution-mode': 'import' };
import type { Logger } from 'pino';
import { ClientError } from '../engine/declare/errors';
import type { Config } from '../shared/config';
import type { UserRoles } from './accounts';
import type { TokenVault } from './tokens';

export const PROVIDER_SIGN_IN_SECONDS = 10 * 60;
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

interface StartedSignIn extends ProviderSignIn {
  state: string;
  nonce: string;
  codeVerifier: string;
  expiresAt: number;
}

/** Loaded at the first sign-in, because most servers have no provider. */
const loadClient = () => import('openid-client');

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
  private discovery?: ReturnType<OpenIdProvider['discoverNow']>;

  constructor(
    private readonly config: Config,
    private readonly tokenVault: TokenVault,
    private readonly log: Logger,
  ) {}

  /** Name of the provider on pages. */
  get label(): string {
    return this.config.oidcLabel;
  }

  get issuer(): string {
    return this.config.oidcIssuer!;
  }

  private async discoverNow() {
    const client = await loadClient();
    const { oidcClientId, oidcClientSecret } = this.config;
    const issuer = new URL(this.issuer);
    const configuration = await client.discovery(
      issuer,
      oidcClientId!,
      oidcClientSecret,
      undefined,
      {
        timeout: PROVIDER_TIMEOUT_SECONDS,
        [client.customFetch]: fetchBounded,
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
        ],
      },
    );

    return { client, configuration };
  }

  /** Reads the configuration of the provider at the first sign-in. A failure is not kept. */
  private discover() {
    this.discovery ??= this.discoverNow().catch((error: unknown) => {
      this.discovery = undefined;
      throw error;
    });

    return this.discovery;
  }

  /** Begins a sign-in. Returns the URL of the provider and the value of the cookie. */
  async begin(
    redirectUri: string,
    signIn: ProviderSignIn,
  ): Promise<{ url: string; cookieValue: string }> {
    const { client, configuration } = await this.discover().catch((error) =>
      this.failUnavailable(error),
    );
    const startedSignIn: StartedSignIn = {
      ...signIn,
      state: client.randomState(),
      nonce: client.randomNonce(),
      codeVerifier: client.randomPKCECodeVerifier(),
      expiresAt: Date.now() + PROVIDER_SIGN_IN_SECONDS * 1000,
    };
    const { state, nonce, codeVerifier } = startedSignIn;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.config.oidcScopes,
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    const cookieValue = this.tokenVault.encrypt(JSON.stringify(startedSignIn));

    return { url: url.href, cookieValue: cookieValue.toString('base64url') };
  }

  /**
   * Completes a sign-in with the URL to which the provider has redirected the browser. Throws
   * UNAUTHENTICATED if the sign-in was rejected, has expired or belongs to another browser, and
   * SERVICE_UNAVAILABLE if the provider fails.
   */
  async complete(
    redirectUrl: URL,
    cookieValue: string,
  ): Promise<ProviderSignIn & { user: ProviderUser }> {
    const decryptedText = this.tokenVault.decrypt(Buffer.from(cookieValue, 'base64url'));
    const { state, nonce, codeVerifier, expiresAt, ...signIn } = JSON.parse(
      decryptedText ?? '{}',
    ) as Partial<StartedSignIn>;

    if (!(expiresAt! > Date.now()) || redirectUrl.searchParams.get('state') !== state) {
      throw new ClientError(
        'UNAUTHENTICATED',
        'This sign-in has expired, or was started in another browser.',
      );
    }

    const claims = await this.readClaims(redirectUrl, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
    });

    return { ...signIn, user: this.userOf(claims) };
  }

  /** Claims of the ID token and of the UserInfo endpoint. */
  private async readClaims(
    redirectUrl: URL,
    checks: Record<'expectedState' | 'expectedNonce' | 'pkceCodeVerifier', string | undefined>,
  ): Promise<Record<string, unknown> & { sub: string }> {
    try {
      const { client, configuration } = await this.discover();
      const tokens = await client.authorizationCodeGrant(configuration, redirectUrl, checks);
      const idToken = tokens.claims()!;

      if (!SUBJECT_PATTERN.test(idToken.sub)) throw new Error('The provider sent an invalid sub.');
      if (!configuration.serverMetadata().userinfo_endpoint) return idToken;

      return {
        ...idToken,
        ...(await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub)),
      };
    } catch (error) {
      const { AuthorizationResponseError, ResponseBodyError } = await loadClient();
      const isRejected =
        error instanceof AuthorizationResponseError ||
        (error instanceof ResponseBodyError && error.error === 'invalid_grant');

      if (!isRejected) return this.failUnavailable(error);
      throw new ClientError('UNAUTHENTICATED', `${this.label} has rejected the sign-in.`);
    }
  }

  private userOf(claims: Record<string, unknown> & { sub: string }): ProviderUser {
    const { oidcGroupsClaim, oidcCuratorGroup, oidcSuperuserGroup } = this.config;
    const { sub, email, preferred_username: username } = claims;
    const groups = [claims[oidcGroupsClaim]].flat();

    return {
      issuer: this.issuer,
      subject: sub,
      username: String(username ?? email ?? sub),
      email: typeof email === 'string' ? email : undefined,
      isEmailVerified: String(claims.email_verified) === 'true',
      roles: {
        ...(oidcCuratorGroup !== undefined && { isCurator: groups.includes(oidcCuratorGroup) }),
        ...(oidcSuperuserGroup !== undefined && {
          isSuperuser: groups.includes(oidcSuperuserGroup),
        }),
      },
    };
  }

  private failUnavailable(error: unknown): never {
    this.log.warn({ err: error }, 'the OpenID Connect provider failed');
    throw new ClientError(
      'SERVICE_UNAVAILABLE',
      `The sign-in with ${this.label} is not available at the moment. Try again later, or sign in with your password.`,
      { retryAfter: RETRY_AFTER_SECONDS },
    );
  }
}
