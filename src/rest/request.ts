/** REST request and response as the route handlers see them, independent of Node's HTTP objects. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { ScopeGroup } from '../contract/metadata';
import type { ParsedBody } from './dialect/body';
import type { PostedForm } from './dialect/methodoverride';
import type { Representation } from './dialect/negotiation';
import type { RestOperation } from './endpoints';
import type { Route } from './routes';

/** Request context provided by the application: authentication, idempotency and cost accounting. */
export interface RestContext {
  resolverContext: object;
  /** Scheme and host for absolute links, and the language codes of Accept-Language, most preferred first. */
  requestInfo: { readonly baseUrl: string; readonly languages: readonly string[] };
  authentication: {
    /** Returns whether the client is signed in. Throws a GraphQLError for invalid credentials. `readFormCsrfToken` reads the CSRF token of a form. */
    authenticate(readFormCsrfToken?: () => Promise<string | undefined>): Promise<boolean>;
    /** Id of the signed-in user; set by `authenticate`. */
    readonly senderUserId?: number;
    /** Returns the name of the signed-in user and the CSRF token of the browser session, if any, for HTML pages. */
    pageVisitor(): { username?: string; csrfToken?: string };
    /** Returns an error if the access token is valid but lacks the scope for this resource group. */
    missingScopeError(group: ScopeGroup, access: 'read' | 'write'): GraphQLError | undefined;
  };
  /**
   * Runs `handle` once per Idempotency-Key or, if given, per `formIdempotencyKey` (single-use key of an HTML form); repetitions receive the stored response. With
   * `onlyWritesRows`, the request is one transaction, which is rolled back unless the request succeeds.
   */
  idempotentExecution: {
    runOnce(
      body: unknown,
      handle: () => Promise<RestResponse>,
      options: { formIdempotencyKey?: string; onlyWritesRows: boolean },
    ): Promise<RestResponse>;
  };
  route?: Route;
  /** Waits for a fair turn of the client to do synchronous work, such as validating a document. */
  awaitTurn(): Promise<void>;
  chargeResponse(bytes: number): void;
  /** Charges time in which the request blocks the event loop. */
  chargeMilliseconds(ms: number): void;
  /** Returns response headers with rate limits and server timing. */
  responseHeaders(): Record<string, string>;
}

export interface RestRequest {
  message: IncomingMessage;
  method: string;
  path: string;
  query: URLSearchParams;
  /** The route that matches the path; absent if the path is unknown. */
  route?: Route;
  /** The negotiated representation of the response (JSON or HTML). Errors before content negotiation are sent as JSON. */
  representation: Representation;
  context: RestContext;
  isSignedIn: boolean;
  /** Maximum number of rows per page of a list. A larger limit in the query string is reduced to this number. */
  maxLimit?: number;
  /** Reads the request body on first use and caches it. The size limits are higher for a signed-in client. */
  readBody(isSignedIn?: boolean): Promise<ParsedBody>;
  form?: PostedForm;
  /** The last GraphQL operation that ran for this request; it is shown on HTML pages. */
  lastOperation?: { operation: RestOperation; variables: Record<string, unknown> };
}

export interface RestResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}
