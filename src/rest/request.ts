/** REST requests and responses, independent of Node's HTTP objects. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { ParsedBody } from './drf/body';
import type { Representation } from './drf/negotiation';
import type { RestOperation, Endpoints } from './endpoints';
import type { Route } from './routes';

/** The endpoints of the API and their OPTIONS responses. */
export interface ApiDescription {
  endpoints: Endpoints;
  describeEndpoint(route: Route, request: RestRequest): Promise<RestResponse>;
}

export interface RenderInput {
  request: RestRequest;
  restResponse: RestResponse;
  headers: Readonly<Record<string, string>>;
}

/** Shows REST responses in browsers. */
export interface HtmlRenderer {
  /**
   * Converts what people type to what other clients send: row names in forms to ids, and text in
   * filters to `searchConditions`. Runs before the request is processed.
   */
  interpretTypedText(request: RestRequest): Promise<void>;
  render(input: RenderInput): Promise<HtmlPage>;

  /**
   * Renders a server error, an exceeded limit (429) or a failed `render`, without reading further
   * data.
   */
  renderError(input: RenderInput): HtmlPage;

  /** Headers of the redirect (303) after a successful write by an HTML form. */
  redirectHeaders(input: RenderInput): Readonly<Record<string, string>> | undefined;
}

export interface HtmlPage {
  htmlText: string;

  /** Headers in addition to the headers of the REST response. */
  headers: Readonly<Record<string, string>>;
}

/** Text values of an HTML form by field name. */
export type FormTextValues = Readonly<Record<string, readonly string[]>>;

/** A posted HTML form, with the HTTP method from its method field. */
export interface PostedForm {
  method: string;
  body: ParsedBody;
  csrfToken?: string;
  formIdempotencyKey?: string;
  rowVersion?: string;
  values: FormTextValues;
}

/** A successful JSON response, without the headers that differ between equal requests. */
export interface FinishedResponse {
  headers: Readonly<Record<string, string>>;
  contentType: string;
  bodyText: string;
  route?: Route;

  /** Name of the GraphQL operation; null for an anonymous one. */
  operationName?: string | null;
}

/** What the application provides for a request: authentication, idempotency and cost accounting. */
export interface RestContext {
  /**
   * Scheme, host and base path for absolute links, and the languages of Accept-Language, most preferred first.
   */
  request: {
    readonly baseUrl: string;
    readonly basePath: string;
    readonly languages: readonly string[];
  };

  /** Time zone of local times: that of the server or, on HTML pages, of the account. */
  readonly timeZone: string;

  /** Applies the time zone and the language of the account to an HTML page. */
  usePreferences(): void;
  authentication: {
    /**
     * Authenticates the client and tells whether it is signed in. Throws a GraphQLError for invalid
     * credentials. `readFormCsrfToken` reads the CSRF token of a form.
     */
    authenticate(readFormCsrfToken?: () => Promise<string | undefined>): Promise<boolean>;

    /** Id of the signed-in user; set by `authenticate`. */
    readonly senderUserId?: number;

    /** User name and CSRF token of the browser session, for HTML pages. */
    pageVisitor(): {
      username?: string;
      csrfToken?: string;
      returnUrl: string;
      basePath: string;
      timeZone?: string;
    };

    /** Creates the error for a valid access token that lacks the scope for this resource group. */
    missingScopeError(group: string, access: 'read' | 'write'): GraphQLError | undefined;
  };

  /**
   * Runs `handle` once per Idempotency-Key or single-use key of a form; repetitions receive the
   * stored response. With `onlyWritesRows`, the request is one transaction, which is rolled back
   * unless the request succeeds.
   */
  idempotentExecution: {
    runOnce(
      body: unknown,
      handle: () => Promise<RestResponse>,
      options: { formIdempotencyKey?: string; onlyWritesRows: boolean },
    ): Promise<RestResponse>;
  };
  route?: Route;

  /** Keeps the response for requests with the same result. Absent if it may be personal. */
  keepResponse?(finishedResponse: FinishedResponse): void;

  /** Waits for a fair turn of the client to do synchronous work, such as validating a document. */
  awaitTurn(): Promise<void>;
  chargeResponseBytes(bytes: number): void;

  /** Charges time during which the request blocks the event loop. */
  chargeMilliseconds(ms: number): void;

  /** Headers with rate limits and server timing. */
  responseHeaders(): Record<string, string>;
}

export type SearchConditions = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export interface RestRequest {
  message: IncomingMessage;
  method: string;
  path: string;
  query: URLSearchParams;

  route?: Route;

  /** The negotiated format (JSON or HTML). Errors before negotiation are sent as JSON. */
  representation: Representation;
  context: RestContext;
  isSignedIn: boolean;

  /** Maximum page size of a list, to which a larger `limit` is reduced. */
  maxLimit?: number;

  /** `where` conditions by query parameter that replace the filters of REST on HTML pages. */
  searchConditions?: SearchConditions;

  /**
   * Reads the request body on first use and caches it. Size limits are higher for signed-in
   * clients.
   */
  readBody(isSignedIn?: boolean): Promise<ParsedBody>;
  form?: PostedForm;

  /** The last GraphQL operation that answered this request, which HTML pages show. */
  lastOperation?: { operation: RestOperation; variables: Record<string, unknown> };
}

export interface RestResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}
