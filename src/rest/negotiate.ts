/** Which representation is wanted: by suffix, by `?format=`, by the Accept header. */
import Negotiator from 'negotiator';
import { notAcceptable, notFound } from './errors';

export type Format = 'json' | 'api';
export const MEDIA: Record<Format, string> = { json: 'application/json', api: 'text/html' };

export interface Wanted {
  format: Format;
  /** Blanks of indentation. */
  indent?: number;
}

export interface Asked {
  accept: string | undefined;
  suffix: string | undefined;
  format: string | undefined;
  /** By the address, for people who follow a link: they can't set a header. It counts where the address asks for JSON too. */
  indent?: string;
}

export const MAX_INDENT = 8;

const isJson = (type: string) => type.trim().toLowerCase().startsWith(MEDIA.json);

const indented = (blanks: string | undefined) => (blanks && /^\d+$/.test(blanks) ? { indent: Math.min(Number(blanks), MAX_INDENT) } : {});

/** Throws 404 for an unknown format, 406 where nothing fits; both are answered as JSON. */
export function negotiate({ accept, suffix, format, indent: byAddress }: Asked): Wanted {
  const named = suffix ?? (format || undefined);
  if (named !== undefined && named !== 'json' && named !== 'api') throw notFound();
  if (accept === undefined || accept === '*/*' || accept === 'application/json') {
    if (named === 'api' && accept === 'application/json') throw notAcceptable();
    return { format: named ?? 'json', ...indented(named === 'json' ? byAddress : undefined) };
  }
  const formats: Format[] = named ? [named] : ['json', 'api'];
  const offered = formats.map((candidate) => MEDIA[candidate]);
  // Media types are compared without their parameters, of which `indent` alone means something. Of those wanted alike JSON is given.
  const types = accept.replace(/;(?!\s*q=)[^;,]*/gi, '').split(',');
  const bare = types.sort((one, other) => Number(isJson(other)) - Number(isJson(one))).join();
  const [chosen] = new Negotiator({ headers: { accept: bare } } as never).mediaTypes(offered);
  if (!chosen || !accept.trim()) throw notAcceptable();
  const indent = /application\/(?:json|\*)[^,]*;\s*indent=(\d+)/i.exec(accept)?.[1] ?? (named === 'json' ? byAddress : undefined);
  return { format: chosen === MEDIA.json ? 'json' : 'api', ...indented(indent) };
}

/** How to say that a path does not exist: as JSON to whom takes it, on a page to everybody else. */
export function negotiateUnknown(accept: string | undefined): Wanted {
  try {
    return negotiate({ accept, suffix: undefined, format: undefined });
  } catch {
    return { format: 'api' };
  }
}
