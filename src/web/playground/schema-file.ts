/**
 * Serves the introspection result as a file that is generated and compressed only once, because
 * GraphiQL requests it at each visit. The file is the same for all clients, so its compressed
 * length reveals no secrets (https://en.wikipedia.org/wiki/BREACH). Requests for it are not charged
 * to the budgets of the clients.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { introspectionFromSchema, type GraphQLSchema, type IntrospectionQuery } from 'graphql';
import { negotiateEncoding } from './assets';

const BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const sortByName = <T extends { readonly name: string }>(items: readonly T[]): T[] =>
  [...items].sort((a, b) => (a.name < b.name ? -1 : 1));

/**
 * Sorts types and fields alphabetically for the documentation explorer. Arguments and enum values
 * keep their order, which is meaningful.
 */
export function sortIntrospection({ __schema: schema }: IntrospectionQuery): IntrospectionQuery {
  const types = sortByName(schema.types).map((type) => {
    if (type.kind === 'OBJECT' || type.kind === 'INTERFACE') {
      return { ...type, fields: sortByName(type.fields) };
    }

    if (type.kind !== 'INPUT_OBJECT') return type;

    return { ...type, inputFields: sortByName(type.inputFields) };
  });

  return { __schema: { ...schema, types } };
}

interface SchemaFile {
  etag: string;
  bodies: Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>;
}

async function buildSchemaFile(schema: GraphQLSchema): Promise<SchemaFile> {
  const uncompressedBody = Buffer.from(
    JSON.stringify(sortIntrospection(introspectionFromSchema(schema))),
  );
  const [brotliBody, gzipBody] = await Promise.all([
    promisify(brotliCompress)(uncompressedBody, BROTLI_OPTIONS),
    promisify<Buffer, Buffer>(gzip)(uncompressedBody),
  ]);

  return {
    etag: createHash('sha256').update(uncompressedBody).digest('base64url').slice(0, 16),
    bodies: { br: brotliBody, gzip: gzipBody, identity: uncompressedBody },
  };
}

/**
 * Creates a handler that serves the schema. Shared caches must not store a schema that only
 * signed-in users may read.
 */
export function schemaFileHandler(
  schema: GraphQLSchema,
  isPublic: boolean,
): (request: Request, response: Response) => Promise<void> {
  let cachedFile: Promise<SchemaFile> | undefined;

  return async (request, response) => {
    const { etag, bodies } = await (cachedFile ??= buildSchemaFile(schema));
    const encoding = negotiateEncoding(request) ?? 'identity';

    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    response
      .set({
        ETag: `"${etag}-${encoding}"`,
        Vary: 'Accept-Encoding',
        'Cache-Control': isPublic ? 'no-cache' : 'private, no-cache',
      })
      .type('json')
      .send(bodies[encoding]);
  };
}
