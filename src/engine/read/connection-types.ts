/**
 * GraphQL types of connections and their paging arguments
 * (https://relay.dev/graphql/connections.htm).
 */
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import type { Row } from '../../database/rows';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../shared/page-size';

@ArgsType()
export class CursorArgs {
  @Field(() => Int, {
    nullable: true,
    description: `The first n rows, at most ${MAX_PAGE_SIZE}; ${DEFAULT_PAGE_SIZE} without \`first\` and \`last\`.`,
  })
  declare first?: number | null;
  @Field(() => String, { nullable: true, description: 'The rows after this cursor.' })
  declare after?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `The last n rows, at most ${MAX_PAGE_SIZE}.`,
  })
  declare last?: number | null;
  @Field(() => String, { nullable: true, description: 'The rows before this cursor.' })
  declare before?: string | null;
}

@ArgsType()
export class PageArgs extends CursorArgs {
  @Field(() => Int, { nullable: true, description: 'Skips n rows. Cursors are faster.' })
  declare offset?: number | null;
}

@ObjectType({ description: 'Information about a page of a connection.', simpleResolvers: true })
export class PageInfo {
  @Field(() => Boolean, { description: 'Whether there are rows after this page.' })
  declare hasNextPage: boolean;
  @Field(() => Boolean, { description: 'Whether there are rows before this page.' })
  declare hasPreviousPage: boolean;
  @Field(() => String, { nullable: true, description: 'Cursor of the first row of this page.' })
  declare startCursor: string | null;
  @Field(() => String, { nullable: true, description: 'Cursor of the last row of this page.' })
  declare endCursor: string | null;
}

export interface Connection {
  totalCount: number;
  nodes: Row[];
  edges: { cursor: string; node: Row }[];
  pageInfo: PageInfo;
}

/** Creates the GraphQL types `XConnection` and `XEdge` of an object type X. */
export function createConnectionType(entity: ClassType): ClassType {
  const Edge = { [`${entity.name}Edge`]: class {} }[`${entity.name}Edge`]!;

  Field(() => String, { description: 'Opaque position of the row in the list.' })(
    Edge.prototype,
    'cursor',
  );
  Field(() => entity, { description: 'The row.' })(Edge.prototype, 'node');
  ObjectType(`${entity.name}Edge`, {
    description: `A row of ${entity.name} and its cursor.`,
    simpleResolvers: true,
  })(Edge);
  const name = `${entity.name}Connection`;
  const Connection = { [name]: class {} }[name]!;

  Field(() => Int, { description: 'Number of rows on all pages.' })(
    Connection.prototype,
    'totalCount',
  );
  Field(() => [entity], { description: 'The rows of this page.' })(Connection.prototype, 'nodes');
  Field(() => [Edge], { description: 'The rows of this page, each with its cursor.' })(
    Connection.prototype,
    'edges',
  );
  Field(() => PageInfo, { description: 'Information about this page.' })(
    Connection.prototype,
    'pageInfo',
  );
  ObjectType(name, { description: `A page of ${entity.name}.`, simpleResolvers: true })(Connection);
  return Connection;
}
