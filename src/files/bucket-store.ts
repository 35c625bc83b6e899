/**
 * File store in a bucket of S3 or a compatible server. The bucket can be private. A path is
 * reserved by a lock in the database (`createPathTakenCheck`), because not all compatible servers
 * support conditional writes.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type {
  GetObjectCommandOutput,
  HeadObjectCommandOutput,
  S3,
  S3ClientConfig,
} from '@aws-sdk/client-s3';
import type { RequestHandler, Response } from 'express';
import type { StorageBucket } from '../shared/bucket';
import { ConfigError } from '../shared/config';
import { FileStorageError } from '../shared/file-storage-error';
import {
  CACHE_MAX_AGE_SECONDS,
  PRIVATE_FILE_MODE,
  type FileVersion,
  type FileStore,
} from './file-store';

const CONNECT_TIMEOUT_MS = 1_500;
const SOCKET_TIMEOUT_MS = 4_000;
const MAX_REQUEST_ATTEMPTS = 2;
const MAX_PARALLEL_DELETES = 16;
const RANGE_NOT_SATISFIABLE_STATUS = 416;

/** Response headers that describe a file and that an error response must not have. */
const FILE_HEADERS = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Length',
  'Content-Range',
  'Content-Security-Policy',
  'Content-Type',
  'ETag',
  'Last-Modified',
];

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;

export class BucketStore implements FileStore {
  readonly isRemote = true;
  private s3?: Promise<S3>;

  constructor(private readonly bucket: StorageBucket) {}

  get location(): string {
    const { name, prefix, endpoint } = this.bucket;

    return `s3://${name}/${prefix}${endpoint ? ` at ${endpoint}` : ''}`;
  }

  /** Imports the S3 client lazily: it loads slowly, and most servers store files in a folder. */
  private loadClient(): Promise<S3> {
    return (this.s3 ??= import('@aws-sdk/client-s3').then(
      ({ S3 }) => new S3(this.clientSettings()),
    ));
  }

  private clientSettings(): S3ClientConfig {
    const { endpoint, region, credentials } = this.bucket;

    return {
      region,
      ...(credentials && { credentials }),
      // Options for S3-compatible servers, which may lack a host name per bucket and some checksums
      // of Amazon S3.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: MAX_REQUEST_ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        requestTimeout: 0,
      },
    };
  }

  private objectParameters = (path: string) => ({
    Bucket: this.bucket.name,
    Key: this.bucket.prefix + path,
  });

  /** Sends a request to S3. All errors become FileStorageError, except an unsatisfiable range. */
  private async send<T>(callback: (s3: S3) => Promise<T>): Promise<T> {
    const s3 = await this.loadClient();

    return callback(s3).catch((error: unknown) => {
      if (statusOf(error) === RANGE_NOT_SATISFIABLE_STATUS) throw error;
      throw new FileStorageError(error);
    });
  }

  private ignoreMissing<T>(callback: (s3: S3) => Promise<T>): Promise<T | undefined> {
    return this.send((s3) =>
      callback(s3).catch((error: unknown) => {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }),
    );
  }

  private head(path: string): Promise<HeadObjectCommandOutput | undefined> {
    return this.ignoreMissing((s3) => s3.headObject(this.objectParameters(path)));
  }

  private get(path: string, Range?: string): Promise<GetObjectCommandOutput | undefined> {
    return this.ignoreMissing((s3) => s3.getObject({ ...this.objectParameters(path), Range }));
  }

  async checkAccess(): Promise<void> {
    const probeParameters = this.objectParameters(`.${randomBytes(8).toString('hex')}`);

    await this.send(async (s3) => {
      await s3.putObject({ ...probeParameters, Body: 'fitgraph' });
      await s3.deleteObject(probeParameters);
    }).catch((error: FileStorageError) => {
      throw new ConfigError(
        `MEDIA_URL must refer to a writable bucket: ${this.location}: ${error.message}`,
      );
    });
  }

  async stat(path: string): Promise<FileVersion | undefined> {
    const object = await this.head(path);

    return object && { size: object.ContentLength ?? 0, version: object.ETag ?? '' };
  }

  async read(path: string): Promise<Buffer | undefined> {
    const object = await this.get(path);

    return object && Buffer.from(await object.Body!.transformToByteArray());
  }

  async openStream(path: string) {
    const object = await this.get(path);

    return object && { size: object.ContentLength!, content: object.Body as Readable };
  }

  async withLocalFile<T>(
    path: string,
    callback: (localPath: string) => Promise<T>,
  ): Promise<T | undefined> {
    const object = await this.get(path);

    if (!object) return undefined;

    return this.withTemporaryFile(async (localPath) => {
      await pipeline(
        object.Body as Readable,
        createWriteStream(localPath, { flags: 'wx', mode: PRIVATE_FILE_MODE }),
      );

      return callback(localPath);
    });
  }

  /** Runs `callback` with the path of a temporary local file, which is deleted afterwards. */
  private async withTemporaryFile<T>(callback: (localPath: string) => Promise<T>): Promise<T> {
    const temporaryFolder = await mkdtemp(join(tmpdir(), 'fitgraph-file-'));

    try {
      return await callback(join(temporaryFolder, 'file'));
    } finally {
      await rm(temporaryFolder, { recursive: true, force: true });
    }
  }

  async reserve(path: string): Promise<boolean> {
    return !(await this.head(path));
  }

  async write(path: string, createFile: (localPath: string) => Promise<void>): Promise<void> {
    await this.withTemporaryFile(async (localPath) => {
      await createFile(localPath);
      const { size } = await stat(localPath);

      await this.send((s3) =>
        s3.putObject({
          ...this.objectParameters(path),
          Body: createReadStream(localPath),
          ContentLength: size,
        }),
      );
    });
  }

  async move(from: string, to: string): Promise<void> {
    const { Bucket, Key } = this.objectParameters(from);
    const CopySource = `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;

    await this.send((s3) => s3.copyObject({ ...this.objectParameters(to), CopySource }));
    await this.delete([from]);
  }

  async deleteFiles(path: string, otherPaths: readonly string[]): Promise<void> {
    const pathsToDelete = new Set([path, ...otherPaths]);

    await this.delete(
      (await this.listPaths(path)).filter((existingPath) => pathsToDelete.has(existingPath)),
    );
  }

  private async delete(paths: readonly string[]): Promise<void> {
    for (let batchStart = 0; batchStart < paths.length; batchStart += MAX_PARALLEL_DELETES) {
      const batch = paths.slice(batchStart, batchStart + MAX_PARALLEL_DELETES);

      await this.send((s3) =>
        Promise.all(batch.map((path) => s3.deleteObject(this.objectParameters(path)))),
      );
    }
  }

  private async listPaths(prefix: string): Promise<string[]> {
    const { Bucket, Key } = this.objectParameters(prefix);
    const objectKeys: string[] = [];

    const loadPage = (ContinuationToken?: string) =>
      this.send((s3) => s3.listObjectsV2({ Bucket, Prefix: Key, ContinuationToken }));

    let nextPageToken: string | undefined;

    do {
      const page = await loadPage(nextPageToken);

      objectKeys.push(...(page.Contents ?? []).flatMap((object) => object.Key ?? []));
      nextPageToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (nextPageToken !== undefined);

    return objectKeys.map((key) => key.slice(this.bucket.prefix.length));
  }

  async listFiles(folder: string): Promise<string[]> {
    return (await this.listPaths(`${folder}/`)).map((path) => path.slice(folder.length + 1));
  }

  async listFolders(prefix: string): Promise<string[]> {
    const paths = await this.listPaths(prefix);

    return [...new Set(paths.map((path) => path.slice(0, path.indexOf('/'))))];
  }

  async deleteFolder(folder: string): Promise<void> {
    await this.delete(await this.listPaths(`${folder}/`));
  }

  createRequestHandler(setHeaders: (response: Response, path: string) => void): RequestHandler {
    return async (request, response, next) => {
      const path = decodeURIComponent(request.path).slice(1);
      const object = await this.head(path);

      if (!object) return next();
      // Some servers do not send the length in response to HEAD.
      const size = object.ContentLength;

      setHeaders(response, path);
      response.set({
        'Accept-Ranges': 'bytes',
        'Cache-Control': `public, max-age=${CACHE_MAX_AGE_SECONDS}, immutable`,
      });
      if (object.ETag) response.set('ETag', object.ETag);
      if (object.LastModified) response.set('Last-Modified', object.LastModified.toUTCString());
      if (request.fresh) return void response.status(304).end();
      let ranges: ReturnType<typeof request.range>;

      if (size !== undefined && matchesIfRange(request.get('if-range'), object)) {
        ranges = request.range(size, { combine: true });
      }

      if (ranges === -1) {
        response.set('Content-Range', `bytes */${size}`);
        return next(
          Object.assign(new Error('Range Not Satisfiable'), {
            status: RANGE_NOT_SATISFIABLE_STATUS,
            expose: true,
          }),
        );
      }

      // Several ranges are answered with the whole file, as by `express.static`.
      let range: { start: number; end: number } | undefined;

      if (Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1) [range] = ranges;
      const length = range ? range.end - range.start + 1 : size;

      if (length !== undefined) response.set('Content-Length', String(length));

      if (range) {
        response.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
      }

      if (request.method === 'HEAD') return void response.end();
      const content = await this.get(path, range && `bytes=${range.start}-${range.end}`);

      if (!content) {
        // Responds as for a missing file, because the object was deleted after the HEAD request.
        for (const name of FILE_HEADERS) response.removeHeader(name);
        response.status(200);
        return next();
      }

      // Some servers ignore the requested range and send the whole file.
      if (range && content.ContentRange === undefined) {
        response.status(200).removeHeader('Content-Range');
      }

      if (content.ContentLength === undefined) response.removeHeader('Content-Length');
      else response.set('Content-Length', String(content.ContentLength));
      await pipeline(content.Body as Readable, response).catch(() => response.destroy());
    };
  }
}

/**
 * Evaluates If-Range: whether the client's copy is current
 * (https://www.rfc-editor.org/rfc/rfc9110#name-if-range).
 */
function matchesIfRange(
  ifRange: string | undefined,
  { ETag, LastModified }: HeadObjectCommandOutput,
): boolean {
  if (ifRange === undefined) return true;

  if (ifRange.includes('"')) return ifRange === ETag;

  return LastModified !== undefined && LastModified.getTime() <= Date.parse(ifRange);
}
