/** Parser of the Authorization header (https://www.rfc-editor.org/rfc/rfc9110#name-authorization). */
import { forbiddenError } from '../core/model/errors';
import { isAccessToken } from './accesstokens';

/** Whitespace that separates scheme and token: only ASCII, because other bytes are part of the token. */
const WHITESPACE_PATTERN = /[ \t\n\v\f\r]/;

/**
 * Returns the token of `Authorization: <scheme> <token>` if the scheme is one of `schemes` (in lower case). Returns undefined for other schemes:
 * their clients count as anonymous. Throws FORBIDDEN for a malformed header.
 */
export function parseAuthorization(
  header: string | undefined,
  schemes: readonly string[],
): string | undefined {
  const [scheme, ...credentials] = (header ?? '').split(WHITESPACE_PATTERN).filter(Boolean);
  if (!scheme || !schemes.includes(scheme.toLowerCase())) return undefined;
  if (credentials.length === 0)
    throw forbiddenError('Invalid token header. No credentials provided.');
  if (credentials.length > 1)
    throw forbiddenError('Invalid token header. Token string should not contain spaces.');
  // Node decodes headers as Latin-1, so invalid UTF-8 must be searched for in the original bytes.
  const bytes = Buffer.from(credentials[0]!, 'latin1');
  if (bytes.some((byte) => byte > 127) && bytes.toString('utf8').includes('\uFFFD'))
    throw forbiddenError(
      'Invalid token header. Token string should not contain invalid characters.',
    );
  return bytes.toString('utf8');
}

/** Returns the access token of a header `Authorization: Bearer fgt_…`; undefined if the header is absent or has any other form. */
export function parseBearerAccessToken(header: string | undefined): string | undefined {
  const [scheme, token, ...rest] = (header ?? '').split(WHITESPACE_PATTERN).filter(Boolean);
  return scheme?.toLowerCase() === 'bearer' &&
    token !== undefined &&
    !rest.length &&
    isAccessToken(token)
    ? token
    : undefined;
}
