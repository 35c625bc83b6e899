/** Starts and uses an OpenID Connect provider: its users sign in on its pages. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseSetCookie } from 'cookie';
import type { Page, Visitor } from './visitor';

export interface Claims {
  email?: string;
  email_verified?: boolean;
  preferred_username?: string;
  groups?: string[];
}

export class OpenIdProvider {
  private constructor(
    private readonly process: ChildProcess,
    readonly issuer: string,
  ) {}

  static async start(): Promise<OpenIdProvider> {
    const child = fork(path.join(__dirname, 'openid-provider-process.mjs'), { stdio: 'ignore' });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];

    return new OpenIdProvider(child, `http://localhost:${port}`);
  }

  /** Registers the server whose people sign in. */
  async register(url: string): Promise<void> {
    this.process.send({ redirectUri: `${url}/login/provider/callback` });
    await once(this.process, 'message');
  }

  setUser(subject: string, claims: Claims): void {
    this.process.send({ subject, claims });
  }

  /** Signs in on the pages of the provider, and returns the path to which it redirects. */
  async signIn(subject: string, authorizationUrl: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = authorizationUrl;
    let body: URLSearchParams | undefined;

    for (let step = 0; step < 12; step += 1) {
      const response = await fetch(url, {
        method: body ? 'POST' : 'GET',
        body,
        redirect: 'manual',
        headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });

      for (const header of response.headers.getSetCookie()) {
        const { name, value } = parseSetCookie(header);

        cookies.set(name, value ?? '');
      }

      const location = response.headers.get('location');
      const html = await response.text();

      body = undefined;

      if (location) {
        url = new URL(location, url).href;
        if (!url.startsWith(this.issuer)) return url.slice(new URL(url).origin.length);
      } else {
        const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];

        expect([response.status, typeof prompt]).toEqual([200, 'string']);
        url = new URL(/action="([^"]+)"/.exec(html)![1]!, url).href;
        body = new URLSearchParams({ prompt: prompt!, login: subject, password: 'x' });
      }
    }

    throw new Error(`the provider did not redirect back, but to ${url}`);
  }

  /** Signs a visitor in with the button of the sign-in page. */
  async signInVisitor(visitor: Visitor, subject: string, next = ''): Promise<Page> {
    const query = next && `?next=${encodeURIComponent(next)}`;
    const started = await visitor.get(`/login/provider${query}`);

    expect(started.status).toBe(303);
    return visitor.get(await this.signIn(subject, started.headers.get('location')!));
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill();
    await once(this.process, 'exit');
  }
}
