/** Reads form fields and query parameters, and sends HTML pages. */
import type { Response } from 'express';
import { PAGE_HEADERS } from './security-headers';

export type FormValues = Record<string, unknown> | undefined;

/** All text values of a form field or query parameter. */
export const textParameters = (values: FormValues, name: string): string[] =>
  [values?.[name]].flat().filter((value): value is string => typeof value === 'string');

/** The last text value of a form field or query parameter. */
export const textParameter = (values: FormValues, name: string): string | undefined =>
  textParameters(values, name).at(-1);

export function sendPage(response: Response, status: number, html: string): void {
  response.status(status).set(PAGE_HEADERS).type('html').send(html);
}
