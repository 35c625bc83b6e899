/** What mutations answer that are given values: the row, or what is wrong with the values. */
import { Ctx, Field, ID, Info, ObjectType, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../database/connection';
import type { Context } from './context';
import { InvalidValues, WHOLE, type FieldErrors } from './errors';
import type { Entity } from './fields';
import { method } from './method';
import { nodeIdOf } from './node';

@ObjectType({ description: 'What is wrong with a value that a mutation was given.', simpleResolvers: true })
export class FieldError {
  @Field(() => String, {
    description: `Where in the input, e.g. \`weight\` or \`days[1].sets[0].reps\`; \`${WHOLE}\` at the end stands for a row as a whole.`,
  })
  readonly path: string;

  @Field(() => [String], { description: 'What is wrong, one sentence each.' })
  readonly messages: string[];

  constructor(path: string, messages: string[]) {
    this.path = path;
    this.messages = messages;
  }
}

@ObjectType({ description: 'A row that was deleted. Caches find what is to be dropped by its `deletedNodeId`.', simpleResolvers: true })
export class Deletion {
  @Field(() => ID, { description: 'What its `id` was.' }) readonly deletedId: number;
  @Field(() => ID, { description: 'What its `nodeId` was.' }) readonly deletedNodeId: string;

  constructor(entity: Entity, id: number) {
    this.deletedId = id;
    this.deletedNodeId = nodeIdOf(entity.name, id);
  }
}

@ObjectType({ description: 'Rows that were deleted, in the order in which they were named.', simpleResolvers: true })
export class Deletions {
  @Field(() => [ID], { description: 'What their `id`s were.' }) readonly deletedIds: readonly number[];
  @Field(() => [ID], { description: 'What their `nodeId`s were.' }) readonly deletedNodeIds: readonly string[];

  constructor(entity: Entity, ids: readonly number[]) {
    this.deletedIds = ids;
    this.deletedNodeIds = ids.map((id) => nodeIdOf(entity.name, id));
  }
}

/** Made by a mutation: what was written, or nothing and the errors. */
export type Payload<T> = ClassType & (new (written: T | null, fieldErrors: FieldError[]) => object);

interface Shown<T> {
  /** Of the payload. */
  name: string;
  description: string;
  /** Its field. */
  field: string;
  type: () => any;
  read(written: T, context: Context, info: GraphQLResolveInfo): Promise<Row | Row[]> | Row[];
}

/** The type of a payload. What was written is read when it is asked for, with the columns that are asked for. */
export function payloadOf<T>({ name, description, field, type, read }: Shown<T>): Payload<T> {
  const Payload = {
    [name]: class {
      constructor(
        readonly written: T | null,
        readonly fieldErrors: FieldError[],
      ) {}
    },
  }[name]!;
  method(
    Payload,
    field,
    function (this: { written: T | null }, context: Context, info: GraphQLResolveInfo) {
      return this.written === null ? null : read(this.written, context, info);
    },
    [Ctx(), Info()],
    Field(type, { nullable: true, description: 'As it is stored now; null if there are errors.' }),
  );
  Field(() => [FieldError], { description: 'All that is wrong with the values; then nothing was written.' })(
    Payload.prototype,
    'fieldErrors',
  );
  ObjectType(name, { description, simpleResolvers: true })(Payload);
  return Payload as Payload<T>;
}

const fieldErrorsOf = (fields: FieldErrors) => Object.entries(fields).map(([path, messages]) => new FieldError(path, messages));

/** The payload of a write. */
export async function answered<T>(Payload: Payload<T>, write: () => Promise<T>): Promise<object> {
  try {
    return new Payload(await write(), []);
  } catch (error) {
    if (error instanceof InvalidValues) return new Payload(null, fieldErrorsOf(error.fields));
    throw error;
  }
}
