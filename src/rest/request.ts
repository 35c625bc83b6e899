/** A request of REST and its answer, apart from HTTP. */
import type { IncomingMessage } from 'node:http';
import type { GraphQLError } from 'graphql';
import type { Group } from '../contract/facts';
import type { Body } from './dialect/body';
import type { PostedForm } from './dialect/forms';
import type { Wanted } from './dialect/negotiate';
import type { Operation } from './endpoints';
import type { Route } from './routes';

/** One request, as the application sees it. */
export interface Exchange {
  /** For the operations. */
  context: object;
  /** Scheme and host of the links. */
  baseUrl: string;
  /** Codes of the languages that the client accepts, best first. */
  languages: readonly string[];
  /** Whether somebody is signed in; throws a GraphQLError for a bad token. `formToken` reads the CSRF token of a form, where one is needed. */
  authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean>;
  /** Id of the user, once `authenticate` has found out. */
  sender?: number;
  /** Who looks at a page; undefined means nobody. */
  visitor?(): { username?: string; csrfToken?: string };
  /** Why the credentials are not for rows of this group, although they are good; undefined if they are. */
  lacking?(group: Group, access: 'read' | 'write'): GraphQLError | undefined;
  /** A change that was made before with the same Idempotency-Key is not made again: its answer is given instead. */
  once?(body: unknown, make: () => Promise<Answer>): Promise<Answer>;
  /** What was found at the address, for those who watch. */
  route?: Route;
  /** Pays for a body of so many bytes. */
  sent(bytes: number): void;
  /** Headers of the answer that are about the work done. */
  headers(): Record<string, string>;
}

export interface Request {
  message: IncomingMessage;
  method: string;
  path: string;
  query: URLSearchParams;
  /** Absent: there is no such path. */
  route?: Route;
  /** How the answer is wanted, as far as that is known: whatever is refused is told in that form. */
  wanted: Wanted;
  exchange: Exchange;
  signedIn: boolean;
  /** Rows of a list, whatever the query asks for. */
  most?: number;
  /** Read when it is first asked for, as far as its sender may go who is `known` to be somebody. */
  body(known?: boolean): Promise<Body>;
  form?: PostedForm;
  /** The last operation, for pages to tell of. */
  ran?: { operation: Operation; variables: Record<string, unknown> };
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}
