/** Interface between the REST router and the HTML renderer, which shows REST responses in browsers. */
import type { Endpoints } from './endpoints';
import type { Answer, Request } from './request';
import type { Route } from './routes';

/** The API as known at startup. */
export interface Described {
  endpoints: Endpoints;
  /** Returns the OPTIONS response of a route. */
  describe(route: Route, request: Request): Promise<Answer>;
}

export interface Shown {
  request: Request;
  answer: Answer;
  headers: Readonly<Record<string, string>>;
}

/** Renders REST responses as HTML. */
export interface Pages {
  /** Resolves names typed by people to row ids, before the request is processed. */
  understand(request: Request): Promise<void>;
  show(shown: Shown): Promise<Page>;
}

export interface Page {
  text: string;
  /** Added to the headers of the REST response. */
  headers: Readonly<Record<string, string>>;
}
