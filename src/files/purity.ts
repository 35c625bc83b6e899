/**
 * Whether an image file holds a picture and nothing else: no place, camera or comment, and nothing behind its end. Only what is known to
 * be harmless passes; whatever this does not know is encoded anew, which leaves everything but the picture behind.
 */
import type { FormatName } from './formats';

export function isPure(bytes: Buffer, format: FormatName): boolean {
  if (format === 'jpeg') return pureJpeg(bytes);
  return format === 'png' && purePng(bytes);
}

const PNG_CHUNKS = new Set('IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '));

function purePng(bytes: Buffer): boolean {
  let at = 8;
  while (at + 12 <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!PNG_CHUNKS.has(type)) return false;
    at += 12 + bytes.readUInt32BE(at);
    if (type === 'IEND') return at === bytes.length;
  }
  return false;
}

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
/** Tables (DHT, DQT, DRI) and frame headers (SOF0–15 but DAC and JPG). */
const isPicture = (marker: number) => marker === 0xdb || marker === 0xdd || (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8);
/** By marker: JFIF, colour profile, Adobe's colour transform. */
const APPLICATION: Readonly<Record<number, string>> = { 0xe0: 'JFIF\0', 0xe2: 'ICC_PROFILE\0', 0xee: 'Adobe' };

function pureJpeg(bytes: Buffer): boolean {
  if (bytes[1] !== SOI) return false;
  let at = 2;
  while (at + 4 <= bytes.length || (at + 2 <= bytes.length && bytes[at + 1] === EOI)) {
    if (bytes[at] !== 0xff) return false;
    const marker = bytes[at + 1]!;
    if (marker === EOI) return at + 2 === bytes.length;
    const known = APPLICATION[marker];
    const length = bytes.readUInt16BE(at + 2);
    if (known !== undefined ? !bytes.toString('latin1', at + 4, at + 2 + length).startsWith(known) : marker !== SOS && !isPicture(marker))
      return false;
    // A thumbnail in the JFIF header may show what the picture no longer does.
    if (marker === 0xe0 && length > 16) return false;
    at += 2 + length;
    if (marker === SOS) at = endOfScan(bytes, at);
  }
  return false;
}

/** The next marker after the coded data; 0xff00 is data there, and restart markers belong to it. */
function endOfScan(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at >= 0) {
    const next = bytes[at + 1]!;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
    at = bytes.indexOf(0xff, at + 2);
  }
  return bytes.length;
}
