/** Reads form fields and query parameters, and sends HTML pages. */
import type { Response } from 'express';
import { GraphQLError } from 'graphql';
import { isTransientError } from '../engine/declare/errors';
import { HTTP_STATUS_BY_ERROR_CODE } from '../shared/error-codes';
import { PAGE_HEADERS } from './security-headers';

export type FormValues = Record<string, unknown> | undefined;

/** All text values of a form field or query parameter. */
export const textParameters = (values: FormValues, name: string): string[] =>
  [values?.[name]].flat().filter((value): value is string => typeof value === 'string');

/** The last text value of a form field or query parameter. */
export const textParameter = (values: FormValues, name: string): string | undefined =>
  textParameters(values, name).at(-1);

/** A text of the query string or a form, without leading and trailing whitespace. */
export const textOf = (values: FormValues, name: string): string =>
  textParameter(values, name)?.trim() ?? '';

export function sendPage(
  response: Response,
  status: number,
  html: string,
  headers = PAGE_HEADERS,
): void {
  response.status(status).set(headers).type('html').send(html);
}

export const redirect = (response: Response, path: string): void =>
  response.set(PAGE_HEADERS).redirect(303, path);

/** Sends the page that `render` creates from the message of an error. Throws all other errors. */
export function sendRejection(
  error: unknown,
  response: Response,
  render: (message: string) => string,
): void {
  if (response.headersSent || !(error instanceof GraphQLError) || isTransientError(error)) {
    throw error;
  }

  const { code, retryAfter } = error.extensions;

  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  sendPage(response, HTTP_STATUS_BY_ERROR_CODE[String(code)] ?? 400, render(error.message));
}
