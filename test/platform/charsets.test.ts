/** Charsets of bodies: which are supported, and how long decoding takes compared with UTF-8. */
import { setTimeout as sleep } from 'node:timers/promises';
import iconv from 'iconv-lite';
import { charsetOf, isSupportedCharset } from '../../src/platform/charsets';
import { randomFor } from '../setup/random';
import { workOf } from '../setup/waits';

const BYTES = 1024 * 1024;
const MAX_RATIO = 3;
const ROUNDS = 8;
const ROUND_PAUSE_MS = 500;
/** UTF-8 of ASCII is faster than any other charset. */
const MIN_REFERENCE_MS = 10;

test.each([
  'utf-7',
  'UTF7',
  'unicode-1-1-utf-7',
  'utf-7-imap',
  'cesu-8',
  'base64',
  'HEX',
  'binary',
  'klingon',
  '',
])('%j is not supported', (name) => {
  expect(isSupportedCharset(name)).toBe(false);
});

test.each([
  'utf-8',
  'UTF8',
  'utf-16',
  'utf-16le',
  'utf-32',
  'latin-1',
  'iso-8859-15',
  'cp1252',
  'koi8-r',
  'shift_jis',
  'gb18030',
  'big5',
])('%j is supported', (name) => expect(isSupportedCharset(name)).toBe(true));

test('is read from the parameters of a media type', () => {
  expect(charsetOf(['', 'boundary=b', ' Charset="latin-1"'])).toBe('latin-1');
  expect(charsetOf(['charset='])).toBe('utf-8');
});

test('are decoded, and encoded again, about as fast as UTF-8, whatever the bytes', async () => {
  const { encodings } = iconv as unknown as { encodings: Record<string, unknown> };
  const names = Object.keys(encodings).filter(
    (name) => !name.startsWith('_') && isSupportedCharset(name),
  );
  expect(names.length).toBeGreaterThan(100);
  // Aliases share a codec.
  const { getCodec } = iconv as unknown as { getCodec(name: string): object };
  const charsets = [...new Map(names.map((name) => [getCodec(name), name])).values()];
  const random = randomFor('charsets');
  const bodies = [
    Buffer.from(Array.from({ length: BYTES }, () => random.int(0, 255))),
    ...[0x26, 0x2b, 0xff].map((byte) => Buffer.alloc(BYTES, byte)),
    ...['&AAA-', '\x84\x31\xa4\x37'].map((pattern) =>
      Buffer.alloc(BYTES, Buffer.from(pattern, 'latin1')),
    ),
  ];
  const timeOf = async (charset: string, body: Buffer) => {
    let text = '';
    const decoding = await workOf(() => (text = iconv.decode(body, charset, { stripBOM: false })));
    const encoding = await workOf(() => iconv.encode(text, charset, { addBOM: false }));
    return Math.max(decoding, encoding);
  };
  const ratioOf = async (charset: string, body: Buffer) =>
    (await timeOf(charset, body)) / Math.max(MIN_REFERENCE_MS, await timeOf('utf-8', body));

  // Other processes and garbage collections slow down the processor for some time, so what seems slow is measured again after all others.
  let slow = charsets.flatMap((charset) =>
    bodies.map((body) => ({ charset, body, ratio: Infinity })),
  );
  for (let round = 0; round < ROUNDS && slow.length > 0; round += 1) {
    for (const pair of slow)
      pair.ratio = Math.min(pair.ratio, await ratioOf(pair.charset, pair.body));
    slow = slow.filter(({ ratio }) => ratio > MAX_RATIO);
    if (slow.length > 0) await sleep(ROUND_PAUSE_MS);
  }
  expect(slow.map(({ charset, ratio }) => ({ charset, ratio }))).toEqual([]);
});
