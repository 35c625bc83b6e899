/** Reads form fields and query parameters, and sends HTML pages. */
import type { Response } from 'express';
import { PAGE_HEADERS } from './securityheaders';

export type FormValues = Record<string, unknown> | undefined;

/** Returns all text values of a form field or query parameter. */
export const submittedTexts = (values: FormValues, name: string): string[] =>
  [values?.[name]].flat().filter((value): value is string => typeof value === 'string');

/** Returns the last text value of a form field or query parameter; undefined if there is none. */
export const submittedText = (values: FormValues, name: string): string | undefined =>
  submittedTexts(values, name).at(-1);

export function sendPage(response: Response, status: number, html: string): void {
  response.status(status).set(PAGE_HEADERS).type('html').send(html);
}
