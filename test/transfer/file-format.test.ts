/** Files that contain no dump: the error says what they are and what to do. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { DumpFile } from '../../src/transfer/dump-file';

const DUMP = '[{"model": "core.language", "pk": 1, "fields": {}}]';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-formats-'));
const file = path.join(folder, 'dump.json');

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

test.each<[string, string | Buffer, string]>([
  ['a compressed dump', gzipSync(DUMP), 'is compressed with gzip. Decompress it first'],
  ['UTF-16 with a byte order mark', utf16(`\uFEFF${DUMP}`), 'is encoded in UTF-16. Convert it'],
  ['UTF-16 without one', utf16(DUMP), 'is encoded in UTF-16. Convert it'],
  ['big-endian UTF-16', utf16(`\uFEFF${DUMP}`).swap16(), 'is encoded in UTF-16. Convert it'],
  ['big-endian UTF-16 without one', utf16(DUMP).swap16(), 'is encoded in UTF-16. Convert it'],
  [
    'messages before the rows',
    `Loading settings, please wait\nWARNING: debug\n\n${DUMP}`,
    'has text before the array: "Loading settings, please wait". Remove it',
  ],
  ['comments of pg_dump', '--\n-- PostgreSQL database dump\n--\n', 'is an SQL dump. Export'],
  ['SQL statements', '\uFEFF\nset statement_timeout = 0;\n[', 'is an SQL dump. Export'],
  ['comments of mysqldump', '-- MySQL dump 10.13, for Linux\n', 'is an SQL dump. Export'],
  ['a dump of SQLite', 'PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n', 'is an SQL dump. Export'],
  ['a transaction', 'BEGIN;\nINSERT INTO "t" VALUES (1, 2);\n', 'is an SQL dump. Export'],
  [
    'a statement over lines',
    'INSERT INTO "t" ("a", "b")\nVALUES (1, 2);',
    'is an SQL dump. Export',
  ],
  [
    'hyphens before the rows',
    `-- Loading settings --\n${DUMP}`,
    'has text before the array: "-- Loading settings --". Remove it',
  ],
  ['the custom format of pg_dump', 'PGDMP\x01\x0e', 'is an SQL dump. Export'],
  ['a CSV file', 'id,name\r\n1,"Squat"\r\n', 'is a CSV file. Export'],
  ['a tab-separated file', 'id\tname', 'is a CSV file. Export'],
  ['a CSV file of sets', 'Set,Reps\n1,5\n', 'is a CSV file. Export'],
  ['a CSV file of periods', 'begin;end\n', 'is a CSV file. Export'],
  ['a tab-separated file of periods', 'begin\tend\n', 'is a CSV file. Export'],
  ['a CSV file of drop sets', 'Drop set,Set name,Create date\n', 'is a CSV file. Export'],
])('explains what to do with %s', async (_what, content, message) => {
  fs.writeFileSync(file, content);
  await expect(DumpFile.open(file)).rejects.toThrow(`${file} ${message}`);
});

test.each(['settings', '<?xml version="1.0"?>', '\uFEFF7'])(
  'says that the file must contain an array if it begins with %j',
  async (content) => {
    fs.writeFileSync(file, content);
    await expect(DumpFile.open(file)).rejects.toThrow('must contain a JSON array of rows');
  },
);
