/** Conditional requests (RFC 9110, section 13): a row's version as its strong entity tag, and what `If-Match` and `If-None-Match` say of it. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { withoutCoding } from '../platform/compression';
import type { Endpoint } from './endpoints';
import { RestError } from './errors';
import type { Answer } from './request';

/** A version that no row has. */
export const NO_VERSION = '';

export const tagOf = (version: string): string => `"${version}"`;

/** Of what is everybody's, and has no version: that of the text. */
export const tagOfText = (text: string): string => tagOf(createHash('sha1').update(text).digest('base64url'));

/** A row as the answer, its version as the tag. */
export function tagged({ version, resource }: Endpoint, status: number, row: Record<string, unknown>): Answer {
  if (!version) return { status, body: row };
  const name = resource.version!;
  const headers = { ETag: tagOf(row[name] as string) };
  delete row[name];
  return { status, body: row, headers };
}

export const failed = () => new RestError(412, { detail: 'The row has another version now. Nothing was written; read it again.' });

interface Tag {
  weak: boolean;
  value: string;
}

/** `*`, or tags with commas between them. What is not written as a tag is none. */
function tagsOf(header: string): '*' | Tag[] {
  if (header.trim() === '*') return '*';
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, value]) => ({ weak: weak !== undefined, value: withoutCoding(value!) }));
}

/** The versions of which a row must have one; undefined where any will do. Weak tags never match. */
export function meantBy(headers: IncomingHttpHeaders): string[] | undefined {
  const header = headers['if-match'];
  const tags = header === undefined ? '*' : tagsOf(header);
  return tags === '*' ? undefined : tags.filter(({ weak }) => !weak).map(({ value }) => value);
}

/** Whether the client has this representation already. Weak tags match as well: they say that it looks the same. */
export function isKnown(headers: IncomingHttpHeaders, tag: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  const tags = tagsOf(header);
  return tags === '*' || tags.some(({ value }) => tagOf(value) === tag);
}
