/** Which representation is wanted: by suffix, by `?format=`, by the Accept header. */
import { notAcceptable, notFound } from '../errors';
import { integerOf } from '../../platform/reading';
import { lastOf } from './query';

export type Format = 'json' | 'api';
export const MEDIA: Record<Format, string> = { json: 'application/json', api: 'text/html' };

export interface Wanted {
  format: Format;
  /** Blanks of indentation. */
  indent?: number;
}

export const MAX_INDENT = 8;

/** Browsers send a tenth of it. */
const MAX_ACCEPT = 4000;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** A part of an Accept header. */
interface Range {
  type: string;
  quality: number;
  indent?: string;
  /** It has parameters other than its quality. */
  detailed: boolean;
}

/** Media types are compared without their parameters, of which `indent` alone means something. */
function rangeOf(part: string): Range {
  const [type = '', ...parameters] = part.split(';').map((text) => text.trim());
  const range: Range = { type: type.toLowerCase(), quality: 1, detailed: false };
  for (const parameter of parameters) {
    const mark = parameter.indexOf('=');
    const [name, value] = [parameter.slice(0, mark).trimEnd().toLowerCase(), parameter.slice(mark + 1).trimStart()];
    if (name === 'indent') range.indent = value;
    if (name !== 'q') {
      range.detailed = true;
      continue;
    }
    if (!QUALITY.test(value)) throw notAcceptable();
    range.quality = Number(value);
  }
  return range;
}

/** How little a range says, from 0 on: a type with parameters, a type, a wildcard for its second half, one for its first. */
function breadthOf({ type, detailed }: Range): number {
  if (type.startsWith('*/')) return 3;
  if (type.endsWith('/*')) return 2;
  return detailed ? 0 : 1;
}

function covers({ type }: Range, media: string): boolean {
  const [[main, sub], wanted] = [type.split('/'), media.split('/')];
  return (main === '*' || main === wanted[0]) && (sub === '*' || sub === wanted[1]);
}

interface Match {
  format: Format;
  range: Range;
  breadth: number;
}

/** How a format is wanted: by the range that says most about it. */
function matchOf(format: Format, ranges: readonly Range[]): Match | undefined {
  const [range] = ranges.filter((one) => covers(one, MEDIA[format])).sort((one, other) => breadthOf(one) - breadthOf(other));
  return range && range.quality > 0 ? { format, range, breadth: breadthOf(range) } : undefined;
}

const QUOTED = /^"(.*)"$/s;

function indented(blanks: string | undefined): { indent?: number } {
  const number = blanks && integerOf(blanks.replace(QUOTED, '$1'));
  return number ? { indent: Math.min(Math.max(number, 0), MAX_INDENT) } : {};
}

/** Throws 404 for an unknown format, 406 where nothing fits; both are answered as JSON. */
export function negotiate(accept: string | undefined, query = new URLSearchParams(), suffix?: string): Wanted {
  const named = suffix ?? (lastOf(query, 'format') || undefined);
  if (named !== undefined && named !== 'json' && named !== 'api') throw notFound();
  // For people who follow a link: they can't set a header. It counts where the address asks for JSON too.
  const byAddress = named === 'json' ? lastOf(query, 'indent') : undefined;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') {
    if (named === 'api' && accept === 'application/json') throw notAcceptable();
    return { format: named ?? 'json', ...indented(byAddress) };
  }
  if (accept.length > MAX_ACCEPT) throw notAcceptable();
  const ranges = accept.split(',').map(rangeOf);
  const formats: Format[] = named ? [named] : ['json', 'api'];
  // Of those wanted alike JSON is given.
  const [chosen] = formats
    .map((format) => matchOf(format, ranges))
    .filter((match) => match !== undefined)
    .sort((one, other) => other.range.quality - one.range.quality || one.breadth - other.breadth);
  if (!chosen) throw notAcceptable();
  return { format: chosen.format, ...indented(chosen.range.indent ?? byAddress) };
}

/** How to say that a path does not exist: as JSON to whom takes it, on a page to everybody else. */
export function negotiateUnknown(accept: string | undefined): Wanted {
  try {
    return negotiate(accept);
  } catch {
    return { format: 'api' };
  }
}
