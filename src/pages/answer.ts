/** Reading forms and answering with pages. */
import type { Response } from 'express';
import { PAGE_HEADERS } from './protection';

export type Values = Record<string, unknown> | undefined;

/** All values of a field of a form, or of a parameter of the address. */
export const texts = (values: Values, name: string): string[] =>
  [values?.[name]].flat().filter((value): value is string => typeof value === 'string');

/** The last one if there are several. */
export function text(values: Values, name: string): string | undefined {
  const value = values?.[name];
  const one: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof one === 'string' ? one : undefined;
}

export function answer(response: Response, status: number, page: string): void {
  response.status(status).set(PAGE_HEADERS).type('html').send(page);
}
