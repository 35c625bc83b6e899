/** What all questions share: their pages, of what one statement works out, and what they cost. */
import { ArgsType, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/rows';
import { binder, type Bind } from '../core/access/conditions';
import type { Context } from '../core/context';
import { classNamed } from '../core/grouping/inputs';
import { MAX_PAGE, PageInfo } from '../core/read/connection';
import { CountedPage, DEFAULT_ROWS } from '../core/read/countedpage';
import { selected } from '../core/read/plan';

/** All rows of a viewer are read, however few the answer has. */
export const FACTS = { only: 'graphql', cost: { weight: 100 } };

@ArgsType()
export class QuestionArgs {
  @Field(() => Int, { defaultValue: DEFAULT_ROWS, description: `How many rows, ${MAX_PAGE} at most.` })
  declare first: number;
  @Field(() => String, {
    nullable: true,
    description: 'Only rows after the one with this cursor. It counts the rows before it, so a change of the data may move what follows.',
  })
  declare after?: string | null;
}

/** `XPage`. */
export function pageOf(row: ClassType): ClassType {
  const name = `${row.name}Page`;
  const Page = classNamed(name);
  Field(() => Int, { description: 'How many rows there are in all pages together; counted only if asked for.' })(
    Page.prototype,
    'totalCount',
  );
  Field(() => [row], { description: 'The rows of this page.' })(Page.prototype, 'nodes');
  Field(() => PageInfo, { description: 'Where this page lies.' })(Page.prototype, 'pageInfo');
  ObjectType(name, { description: `A page of rows of ${row.name}.`, simpleResolvers: true })(Page);
  return Page;
}

export interface Statement {
  select: string;
  /** Of all columns that tell a row from others, so that no two share a place. */
  order: string;
}

export interface Answer<T> {
  totalCount: number;
  nodes: T[];
  pageInfo: PageInfo;
}

/** A page of the rows of a statement. */
export async function answer<T = Row>(
  ask: (bind: Bind) => Statement,
  { first, after, ...asked }: QuestionArgs,
  context: Context,
  { fieldName, fieldNodes, fragments }: GraphQLResolveInfo,
  show: (row: Row) => T = (row) => row as T,
): Promise<Answer<T>> {
  const page = new CountedPage({ first, after }, [fieldName, asked], 'list');
  const { bind, values } = binder();
  const { select, order } = ask(bind);
  const told = selected(fieldNodes, fragments).has('totalCount') ? '(SELECT count(*) FROM q) AS "_count"' : 'TRUE AS "_any"';
  const rows = await context.session.query(
    `WITH q AS (${select}) SELECT c.*, p.* FROM (SELECT ${told}) c LEFT JOIN LATERAL
      (SELECT TRUE AS "_row", q.* FROM q ORDER BY ${order} LIMIT ${bind(page.limit + 1)} OFFSET ${bind(page.skip)}) p ON TRUE`,
    values,
  );
  const { nodes, pageInfo } = page.of(rows.filter((row) => row._row));
  return { totalCount: Number(rows[0]!._count ?? 0), nodes: nodes.map(show), pageInfo };
}
