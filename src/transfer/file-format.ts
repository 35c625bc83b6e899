/**
 * Recognizes files that contain no dump by their first bytes, to say what to do instead of reporting
 * a syntax error.
 */
const GZIP_SIGNATURE = [0x1f, 0x8b];
const UTF_16_SIGNATURES = [
  // Byte order marks, and `[` without one.
  [0xff, 0xfe],
  [0xfe, 0xff],
  [0x5b, 0x00],
  [0x00, 0x5b],
];

/**
 * Beginnings of SQL statements, and of the custom format of pg_dump. A keyword alone may be the
 * first column of a CSV file, such as `Set` or `Begin date`.
 */
const SQL_PATTERN = new RegExp(
  [
    'PGDMP',
    'BEGIN( TRANSACTION)?;\\s',
    '(ALTER|CREATE|DROP) (DATABASE|EXTENSION|SCHEMA|SEQUENCE|TABLE|TYPE) ',
    'INSERT INTO ',
    'PRAGMA \\w+',
    'SET \\w+ ?(=|TO )',
  ]
    .map((beginning) => `^${beginning}`)
    .join('|'),
  'i',
);
const SQL_COMMENT_PATTERN = /^(?:--|\/\*)/;
const ARRAY_LINE_PATTERN = /^\[/m;
const CSV_PATTERN = /^[^\t\n,;]*[\t,;][^\n]*(?:\n|$)/;
const MAX_SHOWN_CHARACTERS = 80;
const SQL_DESCRIPTION =
  'is an SQL dump. Export the data as JSON with manage.py dumpdata (docs/migrating.md).';

const hasSignature = (bytes: Buffer, signature: readonly number[]) =>
  signature.every((byte, index) => bytes[index] === byte);

/** Says what is wrong with a file that begins with `bytes`, unless it may contain a JSON value. */
export function describeWrongFormat(bytes: Buffer): string | undefined {
  if (hasSignature(bytes, GZIP_SIGNATURE)) {
    return 'is compressed with gzip. Decompress it first, for example with gunzip.';
  }

  if (UTF_16_SIGNATURES.some((signature) => hasSignature(bytes, signature))) {
    return 'is encoded in UTF-16. Convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8.';
  }

  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();

  if (text === '' || /^[[{]/.test(text)) return undefined;

  if (SQL_PATTERN.test(text)) return SQL_DESCRIPTION;

  if (ARRAY_LINE_PATTERN.test(text)) {
    const firstLine = text.slice(0, MAX_SHOWN_CHARACTERS).split('\n', 1)[0]!.trimEnd();

    return `has text before the array: ${JSON.stringify(firstLine)}. Remove it, or export with the option --output of manage.py dumpdata, which writes only the rows.`;
  }

  if (SQL_COMMENT_PATTERN.test(text)) return SQL_DESCRIPTION;

  if (CSV_PATTERN.test(text)) {
    return 'is a CSV file. Export the data as JSON with manage.py dumpdata (docs/migrating.md).';
  }

  return undefined;
}
