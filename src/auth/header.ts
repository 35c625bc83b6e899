/** The Authorization header. */
import { forbidden } from '../core/model/errors';

/** Of ASCII only: bytes beyond it belong to a word. */
const BLANKS = /[ \t\n\v\f\r]/;

/**
 * The token of `Authorization: Token <key>`, and of the other schemes that the interface knows; undefined where another scheme is used,
 * which counts as anonymous. FORBIDDEN for a malformed header.
 */
export function tokenOfHeader(header: string | undefined, schemes: readonly string[]): string | undefined {
  const [scheme, ...keys] = (header ?? '').split(BLANKS).filter(Boolean);
  if (!scheme || !schemes.includes(scheme.toLowerCase())) return undefined;
  if (keys.length === 0) throw forbidden('Invalid token header. No credentials provided.');
  if (keys.length > 1) throw forbidden('Invalid token header. Token string should not contain spaces.');
  // Node reads headers as Latin-1: bytes that are no UTF-8 must be found in them.
  const bytes = Buffer.from(keys[0]!, 'latin1');
  if (bytes.some((byte) => byte > 127) && bytes.toString('utf8').includes('\uFFFD'))
    throw forbidden('Invalid token header. Token string should not contain invalid characters.');
  return bytes.toString('utf8');
}
