/** A minimal browser, which keeps cookies and fills in the forms of pages. */
import { parseSetCookie } from 'cookie';
import { PASSWORD } from './fitgraph';

export interface Page {
  status: number;
  headers: Headers;
  text: string;
  cookies: string[];
}

const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** Returns the message of a page about an error. */
export const alertOf = (html: string): string | undefined =>
  /role="alert">(.*?)<\/(?:p|div)>/s.exec(html)?.[1]?.replaceAll('<!-- -->', '').trim();

export class Visitor {
  readonly cookies = new Map<string, string>();

  constructor(
    private readonly url: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  async send(
    method: string,
    path: string,
    body?: string | FormData,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: { ...this.headers, ...(cookie && { Cookie: cookie }), ...headers },
      body,
    });
    const cookies = response.headers.getSetCookie();

    for (const { name, value, maxAge } of cookies.map((header) => parseSetCookie(header))) {
      if (maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, value ?? '');
    }

    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      cookies,
    };
  }

  get = (path: string, headers?: Record<string, string>) =>
    this.send('GET', path, undefined, headers);

  post = (path: string, fields: Record<string, string>) =>
    this.send('POST', path, new URLSearchParams(fields).toString(), {
      'Content-Type': 'application/x-www-form-urlencoded',
    });

  /** Posts a form and loads the page to which the response redirects. */
  async submit(
    path: string,
    fields: Record<string, string> | FormData,
  ): Promise<Page & { location: string }> {
    const { status, headers, text } = await (fields instanceof FormData
      ? this.send('POST', path, fields)
      : this.post(path, fields));

    expect([status, alertOf(text)]).toEqual([303, undefined]);
    const location = headers.get('location')!;

    return { ...(await this.get(location)), location };
  }

  json = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    this.send(method, path, JSON.stringify(body), {
      'Content-Type': 'application/json',
      ...headers,
    });

  /**
   * Loads a page and returns the hidden fields of the first form whose HTML matches the pattern.
   */
  async fieldsOf(
    path: string,
    form: RegExp = /action="[^"]*\/login"/,
  ): Promise<Record<string, string>> {
    const { text } = await this.get(path);
    const found = [...text.matchAll(/<form.*?<\/form>/gs)]
      .map(([html]) => html)
      .find((html) => form.test(html));
    const inputs = [
      ...(found ?? '').matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g),
    ];

    return Object.fromEntries(inputs.map(([, name, value]) => [name!, unescaped(value!)]));
  }

  async signIn(username: string, password = PASSWORD, next = ''): Promise<Page> {
    const fields = await this.fieldsOf(`/login${next && `?next=${encodeURIComponent(next)}`}`);

    return this.post('/login', { ...fields, username, password });
  }

  /** Returns the CSRF token of the session. */
  csrfToken = async (): Promise<string> =>
    (await this.fieldsOf('/', /action="[^"]*\/logout"/)).csrfToken!;
}
