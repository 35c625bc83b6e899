/** Creates uploaded files as the multipart parser does. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UploadedFile } from '../../src/shared/multipart';
import { FOLDER } from '../setup/shared-server';

const folder = join(process.env[FOLDER]!, 'uploaded');

export function uploaded(filename: string, content: Buffer): UploadedFile {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, randomUUID());

  writeFileSync(path, content);
  return new UploadedFile(
    filename,
    path,
    content.length,
    createHash('sha256').update(content).digest('hex'),
  );
}
