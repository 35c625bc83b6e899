/** Interface between the REST router and the HTML renderer, which shows REST responses in browsers. */
import type { Endpoints } from './endpoints';
import type { RestResponse, RestRequest } from './request';
import type { Route } from './routes';

/** Description of the API, created at startup: its endpoints, and a function that returns the OPTIONS response of a route. */
export interface ApiDescription {
  endpoints: Endpoints;
  describeEndpoint(route: Route, request: RestRequest): Promise<RestResponse>;
  /** Time zone of the server. */
  timeZone: string;
}

export interface RenderInput {
  request: RestRequest;
  restResponse: RestResponse;
  headers: Readonly<Record<string, string>>;
}

export interface HtmlRenderer {
  /** Replaces row names by row ids, because people type names where other clients send ids. Called before the request is processed. */
  replaceRowNamesWithIds(request: RestRequest): Promise<void>;
  render(input: RenderInput): Promise<HtmlPage>;
  /** Renders a server error, an exceeded limit (429), or an error that occurred during `render`, without reading further data. */
  renderError(input: RenderInput): HtmlPage;
  /** Returns the headers of the redirect (303) that answers a successful write by an HTML form; undefined for other responses. */
  redirectHeaders(input: RenderInput): Readonly<Record<string, string>> | undefined;
}

export interface HtmlPage {
  htmlText: string;
  /** Headers that are added to those of the REST response. */
  headers: Readonly<Record<string, string>>;
}
