/** `/.well-known/security.txt`: whom to tell of a hole (https://www.rfc-editor.org/rfc/rfc9116). */
import type { RequestHandler } from 'express';
import type { Config } from '../platform/config';
import { DateTime } from 'luxon';

export const SECURITY_TXT = '/.well-known/security.txt';

/** It must say until when it holds, less than a year; asked for again it holds longer. */
const VALID_DAYS = 90;

export const securityTxt =
  ({ securityContact, publicUrl }: Pick<Config, 'securityContact' | 'publicUrl'>): RequestHandler =>
  (_request, response, next) => {
    if (securityContact === undefined) return next();
    const expires = DateTime.utc().startOf('day').plus({ days: VALID_DAYS }).toISO({ suppressMilliseconds: true });
    const lines = [
      `Contact: ${securityContact}`,
      `Expires: ${expires}`,
      'Preferred-Languages: en',
      ...(publicUrl === undefined ? [] : [`Canonical: ${publicUrl}${SECURITY_TXT}`]),
    ];
    response
      .set('Cache-Control', 'public, max-age=86400')
      .type('text/plain')
      .send(`${lines.join('\n')}\n`);
  };
