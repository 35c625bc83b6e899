/** Pages of what is worked out anew for each of them: a cursor counts the rows before it, and belongs to what was asked. */
import { createHash } from 'node:crypto';
import { atLeast, atMost } from '../../contract/messages';
import { badArgument } from '../model/errors';
import { MAX_PAGE, type PageInfo } from './connection';

export const DEFAULT_ROWS = 100;
const HASH_LENGTH = 16;

export class CountedPage {
  readonly limit: number;
  readonly skip: number;
  private readonly sign: string;

  /** `asked` is all that tells one list from another; `kind` is what people are told that it is. */
  constructor({ first, after }: { first?: number | null; after?: string | null }, asked: unknown, kind: string) {
    this.limit = first ?? DEFAULT_ROWS;
    if (this.limit < 0) throw badArgument('first', atLeast(0));
    if (this.limit > MAX_PAGE) throw badArgument('first', atMost(MAX_PAGE));
    this.sign = createHash('sha256').update(JSON.stringify(asked)).digest('base64url').slice(0, HASH_LENGTH);
    this.skip = after == null ? 0 : this.placeOf(after, kind);
  }

  private placeOf(cursor: string, kind: string): number {
    const none = () => badArgument('after', `This is not a cursor of this ${kind}.`);
    let parts: unknown;
    try {
      parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    } catch {
      throw none();
    }
    if (!Array.isArray(parts) || parts.length !== 2 || !Number.isSafeInteger(parts[1]) || parts[1] < 0) throw none();
    if (parts[0] !== this.sign) throw badArgument('after', `This cursor belongs to another ${kind}.`);
    return parts[1] as number;
  }

  /** `found` has one row more than the page where more follow. */
  of<T>(found: readonly T[]): { nodes: T[]; pageInfo: PageInfo } {
    const nodes = found.slice(0, this.limit);
    const cursor = (index: number) => Buffer.from(JSON.stringify([this.sign, this.skip + index + 1])).toString('base64url');
    return {
      nodes,
      pageInfo: {
        hasNextPage: found.length > this.limit,
        hasPreviousPage: this.skip > 0,
        startCursor: nodes.length ? cursor(0) : null,
        endCursor: nodes.length ? cursor(nodes.length - 1) : null,
      },
    };
  }
}
