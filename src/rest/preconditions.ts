/**
 * Conditional requests (RFC 9110, section 13): `If-Match` and `If-None-Match` are compared with the
 * row's version, which is its strong entity tag.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { stripETagCoding } from '../shared/compression';
import type { ResourceEndpoint } from './endpoints';
import { badRequestError, RestError } from './errors';
import type { RestResponse } from './request';

/** Version that no row has. A write that requires it is rejected. */
export const UNMATCHABLE_VERSION = '';

const toStrongETag = (version: string): string => `"${version}"`;

/** Entity tag of a public response without a row version: a hash of its text. */
export const etagOfText = (text: string): string =>
  toStrongETag(createHash('sha1').update(text).digest('base64url'));

export const versionInETag = ({ headers }: RestResponse): string | undefined =>
  headers?.ETag?.slice(1, -1);

/** Builds a response with one row, moving the row's version from the body to the ETag header. */
export function responseWithETag(
  { versionQuery, resource }: ResourceEndpoint,
  status: number,
  row: Record<string, unknown>,
): RestResponse {
  if (!versionQuery) return { status, body: row };
  const name = resource.versionFieldName!;
  const headers = { ETag: toStrongETag(row[name] as string) };

  delete row[name];
  return { status, body: row, headers };
}

export const preconditionFailedError = () =>
  new RestError(412, {
    detail: 'The row has another version now. Nothing was written; read it again.',
  });

/**
 * Parses a list of entity tags; `*` gives undefined, which means every version. Malformed tags are
 * ignored, and weak ones unless `acceptsWeakETags` is set.
 */
function parseVersions(header: string, acceptsWeakETags: boolean): string[] | undefined {
  if (header.trim() === '*') return undefined;
  const etagMatches = [...header.matchAll(/(W\/)?"([^"]*)"/g)].filter(
    ([, weak]) => acceptsWeakETags || weak === undefined,
  );

  return etagMatches.map(([, , version]) => stripETagCoding(version!));
}

/** One or more entity tags, with commas between them. */
const ETAG_LIST_PATTERN = /^(?:(?:W\/)?"[^"]*"\s*(?:,\s*|$))+$/;

/**
 * Versions that `If-Match` accepts; undefined means every version. A malformed header is an error,
 * because it would never match.
 */
export function ifMatchVersions({
  'if-match': header = '*',
}: IncomingHttpHeaders): string[] | undefined {
  if (header.trim() !== '*' && !ETAG_LIST_PATTERN.test(header)) {
    throw badRequestError('The header If-Match must be * or a list of entity tags in quotes.');
  }

  return parseVersions(header, false);
}

export function matchesIfNoneMatch(
  { 'if-none-match': header }: IncomingHttpHeaders,
  etag: string,
): boolean {
  return (
    header !== undefined &&
    (parseVersions(header, true)?.some((version) => toStrongETag(version) === etag) ?? true)
  );
}
