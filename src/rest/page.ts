/** What whoever shows answers to people is given, and what is sent of it. */
import type { Endpoints } from './endpoints';
import type { Answer, Request } from './request';
import type { Route } from './routes';

/** What there is, known at start. */
export interface Described {
  endpoints: Endpoints;
  /** As OPTIONS does. */
  describe(route: Route, request: Request): Promise<Answer>;
}

export interface Shown {
  request: Request;
  answer: Answer;
  headers: Readonly<Record<string, string>>;
}

/** Whoever shows answers to people. */
export interface Pages {
  /** What people wrote, as programs would have: before it is answered. */
  understand(request: Request): Promise<void>;
  show(shown: Shown): Promise<Page>;
}

export interface Page {
  text: string;
  /** Besides those of the answer. */
  headers: Readonly<Record<string, string>>;
}
