/** What mutations answer that are given values: the row, or what is wrong with the input. */
import { Ctx, Field, Info, ObjectType, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidInput } from '../model/errors';
import type { Entity } from '../model/fields';
import { loadLinked } from '../read/loaders';
import { method } from '../model/method';
import { MistakeCode, type InputMistake } from '../model/mistakes';
import { resourceOf } from '../model/registry';

@ObjectType({ description: 'A mistake in the input of a mutation.', simpleResolvers: true })
export class InputError implements InputMistake {
  @Field(() => [String], {
    description:
      'Its place, from the argument on, e.g. `["input", "days", "1", "description"]`. A row as a whole is `["input"]`, all arguments together are `[]`.',
  })
  declare readonly path: readonly string[];

  @Field(() => MistakeCode, { description: 'What kind of mistake it is.' })
  declare readonly code: MistakeCode;

  @Field(() => String, { description: 'What is wrong, in one sentence.' })
  declare readonly message: string;
}

const IN_THE_WAY = 'in the way, with CONFLICT or NOT_UNIQUE.';

/** Adds `conflict`, or `conflicts` of many, for owned rows: public ones have no versions. */
function showConflicts(Payload: ClassType, entity: Entity, many: boolean): void {
  if (!resourceOf(entity)!.owned) return;
  type Conflicting = { conflicting: readonly number[] };
  const rowsOf = ({ conflicting }: Conflicting, context: Context, info: GraphQLResolveInfo) =>
    loadLinked(entity, conflicting, context, info);
  if (many)
    method(
      Payload,
      'conflicts',
      function (this: Conflicting, context: Context, info: GraphQLResolveInfo) {
        return rowsOf(this, context, info);
      },
      [Ctx(), Info()],
      Field(() => [entity], { description: `The current rows ${IN_THE_WAY}` }),
    );
  else
    method(
      Payload,
      'conflict',
      async function (this: Conflicting, context: Context, info: GraphQLResolveInfo) {
        return (await rowsOf(this, context, info))[0] ?? null;
      },
      [Ctx(), Info()],
      Field(() => entity, { nullable: true, description: `The current row ${IN_THE_WAY}` }),
    );
}

/** Made by a mutation: what was written, or nothing and the errors. */
export type Payload<T> = ClassType & (new (written: T | null, errors: readonly InputMistake[], conflicting?: readonly number[]) => object);

interface Shown<T> {
  entity: Entity;
  many: boolean;
  /** Of the payload. */
  name: string;
  description: string;
  /** Its field. */
  field: string;
  type: () => object;
  read(written: T, context: Context, info: GraphQLResolveInfo): Promise<Row | Row[]> | Row | Row[];
}

/** The type of a payload. What was written is read when it is asked for, with the columns that are asked for, unless it is known already. */
export function payloadOf<T>({ entity, many, name, description, field, type, read }: Shown<T>): Payload<T> {
  const Payload = {
    [name]: class {
      constructor(
        readonly written: T | null,
        readonly errors: readonly InputMistake[],
        readonly conflicting: readonly number[] = [],
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
  Field(() => [InputError], { description: 'All that is wrong with the input; then nothing was written.' })(Payload.prototype, 'errors');
  showConflicts(Payload, entity, many);
  ObjectType(name, { description, simpleResolvers: true })(Payload);
  return Payload as Payload<T>;
}

export async function answered<T>(Payload: Payload<T>, write: () => Promise<T>): Promise<object> {
  try {
    return new Payload(await write(), []);
  } catch (error) {
    if (error instanceof InvalidInput) return new Payload(null, error.mistakes, error.conflicts);
    throw error;
  }
}
