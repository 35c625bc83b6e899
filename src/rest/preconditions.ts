/** Conditional requests (RFC 9110, section 13): a row's version is its strong entity tag, compared with `If-Match` and `If-None-Match`. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { stripETagCodingSuffix } from '../platform/compression';
import type { ResourceEndpoint } from './endpoints';
import { RestError } from './errors';
import type { RestResponse } from './request';

export const UNMATCHABLE_VERSION = '';

const toStrongETag = (version: string): string => `"${version}"`;

/** Returns the entity tag of a public response without a row version: a hash of its text. */
export const etagOfText = (text: string): string =>
  toStrongETag(createHash('sha1').update(text).digest('base64url'));

export const versionInETag = ({ headers }: RestResponse): string | undefined =>
  headers?.ETag?.slice(1, -1);

/** Builds the response with a row; moves the row's version from the body to the ETag header. */
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

/** Returns the row versions in a list of entity tags; undefined for `*`. Ignores malformed tags and, unless `acceptsWeakETags` is true, weak ones. */
function parseVersions(header: string, acceptsWeakETags: boolean): string[] | undefined {
  if (header.trim() === '*') return undefined;
  const etagMatches = [...header.matchAll(/(W\/)?"([^"]*)"/g)].filter(
    ([, weak]) => acceptsWeakETags || weak === undefined,
  );
  return etagMatches.map(([, , version]) => stripETagCodingSuffix(version!));
}

/** Returns the versions accepted by `If-Match`; undefined if it accepts every version. */
export const ifMatchVersions = (headers: IncomingHttpHeaders): string[] | undefined =>
  parseVersions(headers['if-match'] ?? '*', false);

export function matchesIfNoneMatch(
  { 'if-none-match': header }: IncomingHttpHeaders,
  etag: string,
): boolean {
  return (
    header !== undefined &&
    (parseVersions(header, true)?.some((version) => toStrongETag(version) === etag) ?? true)
  );
}
