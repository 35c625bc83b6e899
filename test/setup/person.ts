/** A user or anonymous client that sends requests and reads the responses. */

export interface Answer {
  status: number;
  headers: Headers;

  /** Parsed if it is JSON, otherwise text. */
  body: any;
  text: string;

  /** The number of SQL statements of the request. */
  statements: number;
}

export interface GraphQLAnswer extends Answer {
  data: any;

  /** The code of the first error. */
  code: string | undefined;
  errors:
    { message: string; path?: (string | number)[]; extensions: Record<string, any> }[] | undefined;
}

/** The media types that current clients accept, for which the HTTP status reflects the result. */
const GRAPHQL = 'application/graphql-response+json, application/json;q=0.9';

export class Person {
  constructor(
    private readonly url: string,
    private readonly account?: { id: number; token: string },
    private readonly headers: Record<string, string> = {},

    /** Returns what the server has printed, for the message of a request that got no response. */
    private readonly serverOutput: () => string = () => '',
  ) {}

  get id(): number {
    return this.account!.id;
  }

  get token(): string {
    return this.account!.token;
  }

  /** Adds an Accept header unless the person has one. */
  private withAccept = (Accept: string) =>
    new Person(this.url, this.account, { Accept, ...this.headers }, this.serverOutput);

  /** Returns the same person as a client of another instance. */
  atInstance(url: string): Person {
    return new Person(url, this.account, this.headers);
  }

  /** Returns the same person with further headers. */
  withHeaders(headers: Record<string, string>): Person {
    return new Person(this.url, this.account, { ...this.headers, ...headers }, this.serverOutput);
  }

  /** Paths are relative to `/api/v2`. */
  get = (path: string) => this.send('GET', `/api/v2${path}`);
  head = (path: string) => this.send('HEAD', `/api/v2${path}`);
  options = (path: string) => this.send('OPTIONS', `/api/v2${path}`);
  delete = (path: string) => this.send('DELETE', `/api/v2${path}`);
  post = (path: string, body: unknown) => this.send('POST', `/api/v2${path}`, body);
  put = (path: string, body: unknown) => this.send('PUT', `/api/v2${path}`, body);
  patch = (path: string, body: unknown) => this.send('PATCH', `/api/v2${path}`, body);

  async query(query: string, variables?: Record<string, unknown>): Promise<GraphQLAnswer> {
    const answer = await this.withAccept(GRAPHQL).send('POST', '/graphql', { query, variables });
    const errors = answer.body?.errors;

    return { ...answer, data: answer.body?.data, errors, code: errors?.[0]?.extensions?.code };
  }

  /** Returns the data of an operation that must succeed. */
  async ask(query: string, variables?: Record<string, unknown>): Promise<any> {
    const { data, errors } = await this.query(query, variables);

    if (errors) throw new Error(`${errors.map(({ message }) => message).join('\n')}\n${query}`);

    return data;
  }

  /**
   * Sends a request to any path. Texts, bytes and forms are sent unchanged, anything else as JSON.
   */
  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const raw =
      body === undefined ||
      typeof body === 'string' ||
      body instanceof Uint8Array ||
      body instanceof FormData;
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        // Compression takes time and has tests of its own.
        'Accept-Encoding': 'identity',
        ...(this.account && { Authorization: `Token ${this.account.token}` }),
        ...(body !== undefined &&
          !(body instanceof FormData) && { 'Content-Type': 'application/json' }),
        ...this.headers,
      },
      body: (raw ? body : JSON.stringify(body)) as RequestInit['body'],
    }).catch((error: Error) => {
      throw new Error(
        `${method} ${path}: ${String(error.cause ?? error)}\n${this.serverOutput()}`,
        { cause: error.cause },
      );
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') && text !== '';

    return {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : text,
      text,
      statements: Number(
        /desc="(\d+) statements"/.exec(response.headers.get('server-timing') ?? '')?.[1] ?? NaN,
      ),
    };
  }
}
