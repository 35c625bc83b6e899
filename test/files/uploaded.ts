/** Files as requests bring them. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UploadedFile } from '../../src/multipart';

const folder = mkdtempSync(join(tmpdir(), 'fitgraph-uploaded-'));
afterAll(() => rmSync(folder, { recursive: true }));

export function uploaded(filename: string, content: Buffer): UploadedFile {
  const path = join(folder, randomUUID());
  writeFileSync(path, content);
  return new UploadedFile(filename, path, content.length, createHash('sha256').update(content).digest('hex'));
}
