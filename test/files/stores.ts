/** File stores for tests: a folder, or a bucket of a local S3 server. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { readConfig } from '../../src/shared/config';
import type { FileStore } from '../../src/files/file-store';
import { Media } from '../../src/files/media';

export interface Place {
  /** Environment variables that configure the store. */
  environment: Record<string, string>;

  /** The directory on disk in which the files are stored. */
  folder: string;
  end(): Promise<void>;
}

async function folderPlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-shared-'));

  chmodSync(folder, 0o750);
  return {
    environment: { MEDIA_DIR: folder },
    folder,
    end: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Makes S3rver delete only the files of a deleted object. It also deletes folders that it has found
 * empty, recursively and a moment later, with the objects that other requests have created there in
 * between.
 */
function keepEmptyFolders({ store }: S3rver): void {
  store.deleteObject = async (bucket, key) => {
    for (const resource of ['object', 'object.md5', 'metadata.json']) {
      await rm(store.getResourcePath(bucket, key, resource), { force: true });
    }
  };
}

async function bucketPlace(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'fitgraph-s3-'));
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    // Mismatches are allowed because S3rver omits the slash after the bucket name when it verifies
    // signatures.
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: 'fit', configs: [] }],
  });

  keepEmptyFolders(server);
  const { port } = await server.run();
  // The fixed credentials of S3rver.
  const credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
  const environment = {
    MEDIA_URL: `s3://fit/${randomUUID()}`,
    MEDIA_ENDPOINT: `http://127.0.0.1:${port}`,
    ...credentials,
  };
  let ended = false;

  const end = async () => {
    if (ended) return;
    ended = true;
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  };

  return { environment, folder: directory, end };
}

export const PLACES: [string, () => Promise<Place>][] = [
  ['a folder', folderPlace],
  ['a bucket', bucketPlace],
];
export const startBucket = bucketPlace;

/** Opens the media of a store without starting a server. */
export function mediaOf({ environment }: Place): Media {
  const media = Media.fromConfig(readConfig({ DATA_DIR: tmpdir(), ...environment }));

  if (environment.MEDIA_DIR) mkdirSync(environment.MEDIA_DIR, { recursive: true });

  return media;
}

/** Lists the paths of all files, including hidden ones. */
export async function namesIn(files: FileStore): Promise<string[]> {
  const folders = await files.listFolders('');

  return (
    await Promise.all(
      folders.map(async (folder) =>
        (await files.listFiles(folder)).map((name) => `${folder}/${name}`),
      ),
    )
  )
    .flat()
    .sort();
}
