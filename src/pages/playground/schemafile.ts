/**
 * Serves the introspection result of the GraphQL schema as a file. It is generated and compressed only once, because GraphiQL requests it at each visit.
 * Compressing it leaks no secrets, because it is the same for all clients. Requests for it are not charged to the rate limit by query cost.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { introspectionFromSchema, type GraphQLSchema } from 'graphql';
import { contentEncodingFor } from './assets';
import { sortIntrospection } from './sortintrospection';

const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

interface SchemaFile {
  etag: string;
  bodies: Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>;
}

async function buildFile(schema: GraphQLSchema): Promise<SchemaFile> {
  const uncompressedBody = Buffer.from(
    JSON.stringify(sortIntrospection(introspectionFromSchema(schema))),
  );
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(uncompressedBody, BROTLI_OPTIONS),
    promisify<Buffer, Buffer>(gzip)(uncompressedBody),
  ]);
  return {
    etag: createHash('sha256').update(uncompressedBody).digest('base64url').slice(0, 16),
    bodies: { br, gzip: gzipped, identity: uncompressedBody },
  };
}

/** Returns a handler that serves the schema. If `isPublic` is false, only signed-in users may read it, so shared caches must not store it. */
export function schemaFileHandler(
  schema: GraphQLSchema,
  isPublic: boolean,
): (request: Request, response: Response) => Promise<void> {
  let cachedFile: Promise<SchemaFile> | undefined;
  return async (request, response) => {
    const { etag, bodies } = await (cachedFile ??= buildFile(schema));
    const coding = contentEncodingFor(request) ?? 'identity';
    if (coding !== 'identity') response.set('Content-Encoding', coding);
    response
      .set({
        ETag: `"${etag}-${coding}"`,
        Vary: 'Accept-Encoding',
        'Cache-Control': isPublic ? 'no-cache' : 'private, no-cache',
      })
      .type('json')
      .send(bodies[coding]);
  };
}
