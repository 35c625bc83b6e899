/**
 * The schema as a file: what GraphiQL would ask for at each visit, made and compressed once. It is the same for everybody, so its length tells
 * nothing, and it is no part of what a visitor may spend.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { introspectionFromSchema, type GraphQLSchema } from 'graphql';
import { codingOf } from './assets';
import { listedByName } from './introspection';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

interface Made {
  tag: string;
  bodies: Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>;
}

async function made(schema: GraphQLSchema): Promise<Made> {
  const identity = Buffer.from(JSON.stringify(listedByName(introspectionFromSchema(schema))));
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(identity, BROTLI), promisify<Buffer, Buffer>(gzip)(identity)]);
  return { tag: createHash('sha256').update(identity).digest('base64url').slice(0, 16), bodies: { br, gzip: zipped, identity } };
}

/** `isPublic` says whether whoever asks matters, so that nobody keeps it for others. */
export function schemaFile(schema: GraphQLSchema, isPublic: boolean): (request: Request, response: Response) => Promise<void> {
  let file: Promise<Made> | undefined;
  return async (request, response) => {
    const { tag, bodies } = await (file ??= made(schema));
    const coding = codingOf(request) ?? 'identity';
    if (coding !== 'identity') response.set('Content-Encoding', coding);
    response
      .set({ ETag: `"${tag}-${coding}"`, Vary: 'Accept-Encoding', 'Cache-Control': isPublic ? 'no-cache' : 'private, no-cache' })
      .type('json')
      .send(bodies[coding]);
  };
}
