/**
 * Files in a bucket of S3, or of a server that speaks its language. Nobody but this program has to be able to read it. A name is free where the
 * database says so, under a lock, and nothing is there: not all such servers refuse to put a file in the place of another one.
 */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GetObjectCommandOutput, HeadObjectCommandOutput, S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import type { RequestHandler, Response } from 'express';
import type { Bucket } from '../platform/bucket';
import { ConfigError } from '../platform/config';
import { FilesUnavailable } from '../platform/filesunavailable';
import { KEPT_SECONDS, PRIVATE_FILE, type FileFacts, type FileStore } from './filestore';

type Library = typeof import('@aws-sdk/client-s3');

/** An answer begins within this, and never pauses for longer. */
const CONNECTION_MS = 1_500;
const SILENCE_MS = 4_000;
const ATTEMPTS = 2;
const AT_ONCE = 16;
/** Of a request for a part that there is not. */
const NOT_SATISFIABLE = 416;

/** Of a file, and of nothing else. */
const SAID = [
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
  readonly isFar = true;
  private loaded?: Promise<{ library: Library; client: S3Client }>;

  constructor(private readonly bucket: Bucket) {}

  get name(): string {
    const { name, prefix, endpoint } = this.bucket;
    return `s3://${name}/${prefix}${endpoint ? ` at ${endpoint}` : ''}`;
  }

  /** It takes a while, and most servers have no need of it. */
  private load(): Promise<{ library: Library; client: S3Client }> {
    return (this.loaded ??= import('@aws-sdk/client-s3').then((library) => ({ library, client: new library.S3Client(this.settings()) })));
  }

  private settings(): S3ClientConfig {
    const { endpoint, region, credentials } = this.bucket;
    return {
      region,
      ...(credentials && { credentials }),
      // Servers other than Amazon's have no names for their buckets, and do not know all that Amazon adds.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECTION_MS, socketTimeout: SILENCE_MS, requestTimeout: 0 },
    };
  }

  private at = (path: string) => ({ Bucket: this.bucket.name, Key: this.bucket.prefix + path });

  /** Throws FilesUnavailable for whatever is not an answer about the file. */
  private async ask<T>(work: (library: Library, client: S3Client) => Promise<T>): Promise<T> {
    const { library, client } = await this.load();
    return work(library, client).catch((error: unknown) => {
      const status = statusOf(error);
      if (status === NOT_SATISFIABLE) throw error;
      throw new FilesUnavailable(error);
    });
  }

  /** Undefined where there is nothing. */
  private async found<T>(work: (library: Library, client: S3Client) => Promise<T>): Promise<T | undefined> {
    return this.ask((library, client) =>
      work(library, client).catch((error: unknown) => {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }),
    );
  }

  private head(path: string): Promise<HeadObjectCommandOutput | undefined> {
    return this.found(({ HeadObjectCommand }, client) => client.send(new HeadObjectCommand(this.at(path))));
  }

  private get(path: string, Range?: string): Promise<GetObjectCommandOutput | undefined> {
    return this.found(({ GetObjectCommand }, client) => client.send(new GetObjectCommand({ ...this.at(path), Range })));
  }

  async check(): Promise<void> {
    const trial = `.${randomBytes(8).toString('hex')}`;
    await this.ask(async ({ PutObjectCommand, DeleteObjectCommand }, client) => {
      await client.send(new PutObjectCommand({ ...this.at(trial), Body: 'fitgraph' }));
      await client.send(new DeleteObjectCommand(this.at(trial)));
    }).catch((error: FilesUnavailable) => {
      throw new ConfigError(`MEDIA_URL must name a bucket that can be written to: ${this.name}: ${error.message}`);
    });
  }

  async facts(path: string): Promise<FileFacts | undefined> {
    const found = await this.head(path);
    return found && { size: found.ContentLength ?? 0, version: found.ETag ?? '' };
  }

  async read(path: string): Promise<Buffer | undefined> {
    const found = await this.get(path);
    return found && Buffer.from(await found.Body!.transformToByteArray());
  }

  async stream(path: string) {
    const found = await this.get(path);
    return found && { size: found.ContentLength!, content: found.Body as Readable };
  }

  async lend<T>(path: string, work: (place: string) => Promise<T>): Promise<T | undefined> {
    const found = await this.get(path);
    if (!found) return undefined;
    return this.aside(async (place) => {
      await pipeline(found.Body as Readable, createWriteStream(place, { flags: 'wx', mode: PRIVATE_FILE }));
      return work(place);
    });
  }

  /** A place for one file on this machine, of which nothing is left. */
  private async aside<T>(work: (place: string) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'fitgraph-file-'));
    try {
      return await work(join(folder, 'file'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async reserve(path: string): Promise<boolean> {
    return !(await this.head(path));
  }

  async write(path: string, put: (place: string) => Promise<void>): Promise<void> {
    await this.aside(async (place) => {
      await put(place);
      const { size } = await stat(place);
      await this.ask(({ PutObjectCommand }, client) =>
        client.send(new PutObjectCommand({ ...this.at(path), Body: createReadStream(place), ContentLength: size })),
      );
    });
  }

  async move(from: string, to: string): Promise<void> {
    const { Bucket, Key } = this.at(from);
    const CopySource = `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;
    await this.ask(({ CopyObjectCommand }, client) => client.send(new CopyObjectCommand({ ...this.at(to), CopySource })));
    await this.delete([from]);
  }

  async remove(path: string, others: readonly string[]): Promise<void> {
    const all = new Set([path, ...others]);
    await this.delete((await this.keys(path)).filter((one) => all.has(one)));
  }

  private async delete(paths: readonly string[]): Promise<void> {
    for (let at = 0; at < paths.length; at += AT_ONCE)
      await this.ask(({ DeleteObjectCommand }, client) =>
        Promise.all(paths.slice(at, at + AT_ONCE).map((path) => client.send(new DeleteObjectCommand(this.at(path))))),
      );
  }

  private async keys(beginning: string): Promise<string[]> {
    const { Bucket, Key } = this.at(beginning);
    const found: string[] = [];
    for (let ContinuationToken: string | undefined, more = true; more; more = ContinuationToken !== undefined) {
      const page = await this.ask(({ ListObjectsV2Command }, client) =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: Key, ContinuationToken })),
      );
      found.push(...(page.Contents ?? []).flatMap((one) => one.Key ?? []));
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    }
    return found.map((key) => key.slice(this.bucket.prefix.length));
  }

  async list(folder: string): Promise<string[]> {
    return (await this.keys(`${folder}/`)).map((path) => path.slice(folder.length + 1));
  }

  async folders(beginning: string): Promise<string[]> {
    return [...new Set((await this.keys(beginning)).map((path) => path.slice(0, path.indexOf('/'))))];
  }

  async discard(folder: string): Promise<void> {
    await this.delete(await this.keys(`${folder}/`));
  }

  serve(describe: (response: Response, path: string) => void): RequestHandler {
    return async (request, response, next) => {
      const path = decodeURIComponent(request.path).slice(1);
      const found = await this.head(path);
      if (!found) return next();
      // Some servers tell it only with the content.
      const size = found.ContentLength;
      describe(response, path);
      response.set({ 'Accept-Ranges': 'bytes', 'Cache-Control': `public, max-age=${KEPT_SECONDS}, immutable` });
      if (found.ETag) response.set('ETag', found.ETag);
      if (found.LastModified) response.set('Last-Modified', found.LastModified.toUTCString());
      if (request.fresh) return void response.status(304).end();
      const ranges = size !== undefined && unchanged(request.get('if-range'), found) ? request.range(size, { combine: true }) : undefined;
      if (ranges === -1) {
        response.set('Content-Range', `bytes */${size}`);
        return next(Object.assign(new Error('Range Not Satisfiable'), { status: NOT_SATISFIABLE, expose: true }));
      }
      // As with files: several parts at once are answered by the whole.
      const part = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0] : undefined;
      const length = part ? part.end - part.start + 1 : size;
      if (length !== undefined) response.set('Content-Length', String(length));
      if (part) response.status(206).set('Content-Range', `bytes ${part.start}-${part.end}/${size}`);
      if (request.method === 'HEAD') return void response.end();
      const content = await this.get(path, part && `bytes=${part.start}-${part.end}`);
      if (!content) {
        // It has gone this very moment.
        for (const name of SAID) response.removeHeader(name);
        response.status(200);
        return next();
      }
      // A server that ignores ranges sends all of it.
      if (part && content.ContentRange === undefined) response.status(200).removeHeader('Content-Range');
      if (content.ContentLength === undefined) response.removeHeader('Content-Length');
      else response.set('Content-Length', String(content.ContentLength));
      await pipeline(content.Body as Readable, response).catch(() => response.destroy());
    };
  }
}

/** Whether a part still belongs to what the client has of it. */
function unchanged(condition: string | undefined, { ETag, LastModified }: HeadObjectCommandOutput): boolean {
  if (condition === undefined) return true;
  return condition.includes('"') ? condition === ETag : LastModified !== undefined && LastModified.getTime() <= Date.parse(condition);
}
