/** Conditional requests (RFC 9110, section 13): a row's version as its strong entity tag, and what `If-Match` and `If-None-Match` say of it. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { withoutCoding } from '../platform/compression';
import type { Endpoint } from './endpoints';
import { RestError } from './errors';
import type { Answer } from './request';

/** A version that no row has. */
export const NO_VERSION = '';

const tagOf = (version: string): string => `"${version}"`;

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

/** The versions whose tags a header has, undefined for any. What is not written as a tag is none; weak ones count where it is enough to look the same. */
function versionsIn(header: string, weakly: boolean): string[] | undefined {
  if (header.trim() === '*') return undefined;
  const tags = [...header.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => weakly || weak === undefined);
  return tags.map(([, , version]) => withoutCoding(version!));
}

/** The versions of which a row must have one; undefined where any will do. */
export const meantBy = (headers: IncomingHttpHeaders): string[] | undefined => versionsIn(headers['if-match'] ?? '*', false);

export function isKnown({ 'if-none-match': header }: IncomingHttpHeaders, tag: string): boolean {
  return header !== undefined && (versionsIn(header, true)?.some((version) => tagOf(version) === tag) ?? true);
}
