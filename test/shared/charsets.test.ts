/**
 * Charsets of bodies: which are supported. Those whose decoding is much slower than that of UTF-8
 * are not.
 */
import iconv from 'iconv-lite';
import { decodeText, isSupportedCharset, parseCharset } from '../../src/shared/charsets';

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
  expect(parseCharset(['', 'boundary=b', ' Charset="latin-1"'])).toBe('latin-1');
  expect(parseCharset(['charset='])).toBe('utf-8');
  expect(parseCharset(['charset=utf-8', 'charset=latin-1'])).toBe('latin-1');
});

test.each([
  ['utf-8', 'ä\u{1f600}\uFFFD'],
  ['utf-16le', 'ä\uFFFD'],
  ['utf-16be', 'ä\uFFFD'],
  ['utf-32le', 'ä\u{1f600}'],
  ['gb18030', 'ä\uFFFD'],
  ['windows-1252', 'ä€'],
  ['koi8-r', 'ж'],
  ['shift_jis', '表'],
])('text in %s is decoded: %j', (charset, text) => {
  expect(decodeText(iconv.encode(text, charset), charset)).toBe(text);
});

test.each(['utf-16', 'utf-32'])('text in %s needs a byte order mark', (charset) => {
  for (const byteOrder of ['le', 'be']) {
    const encode = (text: string) => iconv.encode(text, charset + byteOrder);

    expect(decodeText(encode('\uFEFF{"ä": 1}'), charset)).toBe('{"ä": 1}');
    expect(() => decodeText(encode('{"ä": 1}'), charset)).toThrow('byte order mark');
  }
});

test.each([
  ['utf-8', 'c3'],
  ['ascii', '61ff'],
  ['us-ascii', 'c3a9'],
  ['windows-1252', '81'],
  ['shift_jis', '81'],
  ['gb18030', 'ff'],
])('bytes that are invalid in %s are rejected: %s', (charset, hexadecimal) => {
  expect(() => decodeText(Buffer.from(hexadecimal, 'hex'), charset)).toThrow(/valid/);
});
