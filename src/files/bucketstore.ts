/**
 * File store in a bucket of S3 or a compatible server. The bucket can be private. Not all compatible servers support conditional writes, so a path is
 * reserved by a lock in the database (`createPathUsageCheck`) and by a check that no object exists.
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
import type { StorageBucket } from '../platform/bucket';
import { ConfigError } from '../platform/config';
import { FileStorageError } from '../platform/filestorageerror';
import {
  CACHE_MAX_AGE_SECONDS,
  PRIVATE_FILE_MODE,
  type FileVersion,
  type FileStore,
} from './filestore';

const CONNECT_TIMEOUT_MS = 1_500;
const SOCKET_TIMEOUT_MS = 4_000;
const MAX_REQUEST_ATTEMPTS = 2;
const MAX_PARALLEL_DELETES = 16;
const RANGE_NOT_SATISFIABLE_STATUS = 416;

/** Response headers that describe a file; an error response must not have them. */
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
      // Options for servers other than Amazon S3, which may not have a host name for each bucket and may not support all checksums of Amazon S3.
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

  /** Sends a request to S3; throws FileStorageError for all errors except an unsatisfiable range. */
  private async send<T>(callback: (s3: S3) => Promise<T>): Promise<T> {
    const s3 = await this.loadClient();
    return callback(s3).catch((error: unknown) => {
      throw statusOf(error) === RANGE_NOT_SATISFIABLE_STATUS ? error : new FileStorageError(error);
    });
  }

  private undefinedIfMissing<T>(callback: (s3: S3) => Promise<T>): Promise<T | undefined> {
    return this.send((s3) =>
      callback(s3).catch((error: unknown) => {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }),
    );
  }

  private head(path: string): Promise<HeadObjectCommandOutput | undefined> {
    return this.undefinedIfMissing((s3) => s3.headObject(this.objectParameters(path)));
  }

  private get(path: string, Range?: string): Promise<GetObjectCommandOutput | undefined> {
    return this.undefinedIfMissing((s3) => s3.getObject({ ...this.objectParameters(path), Range }));
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

  async versionOf(path: string): Promise<FileVersion | undefined> {
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

  /** Runs `callback` with a path for a temporary file on this machine, which is deleted afterwards. */
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
    const removedPaths = new Set([path, ...otherPaths]);
    await this.delete(
      (await this.listKeys(path)).filter((existingPath) => removedPaths.has(existingPath)),
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

  private async listKeys(prefix: string): Promise<string[]> {
    const { Bucket, Key } = this.objectParameters(prefix);
    const objectKeys: string[] = [];
    for (
      let ContinuationToken: string | undefined, hasMore = true;
      hasMore;
      hasMore = ContinuationToken !== undefined
    ) {
      const page = await this.send((s3) =>
        s3.listObjectsV2({ Bucket, Prefix: Key, ContinuationToken }),
      );
      objectKeys.push(...(page.Contents ?? []).flatMap((object) => object.Key ?? []));
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    }
    return objectKeys.map((key) => key.slice(this.bucket.prefix.length));
  }

  async listFiles(folder: string): Promise<string[]> {
    return (await this.listKeys(`${folder}/`)).map((path) => path.slice(folder.length + 1));
  }

  async listFolders(prefix: string): Promise<string[]> {
    return [
      ...new Set((await this.listKeys(prefix)).map((path) => path.slice(0, path.indexOf('/')))),
    ];
  }

  async deleteFolder(folder: string): Promise<void> {
    await this.delete(await this.listKeys(`${folder}/`));
  }

  createRequestHandler(setHeaders: (response: Response, path: string) => void): RequestHandler {
    return async (request, response, next) => {
      const path = decodeURIComponent(request.path).slice(1);
      const object = await this.head(path);
      if (!object) return next();
      // The size is undefined if the server sends the length only together with the content, that is, not in response to HEAD.
      const size = object.ContentLength;
      setHeaders(response, path);
      response.set({
        'Accept-Ranges': 'bytes',
        'Cache-Control': `public, max-age=${CACHE_MAX_AGE_SECONDS}, immutable`,
      });
      if (object.ETag) response.set('ETag', object.ETag);
      if (object.LastModified) response.set('Last-Modified', object.LastModified.toUTCString());
      if (request.fresh) return void response.status(304).end();
      const ranges =
        size !== undefined && matchesIfRange(request.get('if-range'), object)
          ? request.range(size, { combine: true })
          : undefined;
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
      const range =
        Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1
          ? ranges[0]
          : undefined;
      const length = range ? range.end - range.start + 1 : size;
      if (length !== undefined) response.set('Content-Length', String(length));
      if (range)
        response.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
      if (request.method === 'HEAD') return void response.end();
      const content = await this.get(path, range && `bytes=${range.start}-${range.end}`);
      if (!content) {
        // Responds as for a missing file, because the object was deleted after the HEAD request.
        for (const name of FILE_HEADERS) response.removeHeader(name);
        response.status(200);
        return next();
      }
      // Some servers ignore the range and send the whole file.
      if (range && content.ContentRange === undefined)
        response.status(200).removeHeader('Content-Range');
      if (content.ContentLength === undefined) response.removeHeader('Content-Length');
      else response.set('Content-Length', String(content.ContentLength));
      await pipeline(content.Body as Readable, response).catch(() => response.destroy());
    };
  }
}

/** Whether the client's copy is current according to If-Range (https://www.rfc-editor.org/rfc/rfc9110#name-if-range). */
function matchesIfRange(
  condition: string | undefined,
  { ETag, LastModified }: HeadObjectCommandOutput,
): boolean {
  if (condition === undefined) return true;
  return condition.includes('"')
    ? condition === ETag
    : LastModified !== undefined && LastModified.getTime() <= Date.parse(condition);
}
