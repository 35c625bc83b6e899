/** What mutations answer that are given values: the row, or what is wrong with the values. */
import { Ctx, Field, Info, ObjectType, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidValues, OtherVersion, WHOLE, type Mistakes } from '../model/errors';
import type { Entity } from '../model/fields';
import { loadLinked } from '../read/loaders';
import { method } from '../model/method';
import { MistakeCode } from '../model/mistakes';
import { resourceOf } from '../model/registry';
import { readOne } from '../read/row';

@ObjectType({ description: 'What is wrong with a value that a mutation was given: one for each place and code.', simpleResolvers: true })
export class FieldError {
  @Field(() => String, {
    description: `Where in the input, e.g. \`weight\` or \`days[1].workoutSets[0].sets\`; \`${WHOLE}\` at the end stands for a row as a whole.`,
  })
  readonly path: string;

  @Field(() => MistakeCode, { description: 'What kind of mistake it is.' })
  readonly code: MistakeCode;

  @Field(() => [String], { description: 'What is wrong, one sentence each.' })
  readonly messages: string[];

  constructor(path: string, code: MistakeCode, messages: string[]) {
    this.path = path;
    this.code = code;
    this.messages = messages;
  }
}

const AS_NOW = 'as it is now, if `ifVersion` meant another version of it: then nothing was written.';
const OTHER_VERSION = 'The row has another version now.';

/**
 * Adds what a payload has of rows that have other versions than were meant, whose ids are its `clashing`: `conflict`, or `conflicts` of many.
 * Rows of public types have no versions.
 */
export function showConflicts(Payload: ClassType, entity: Entity, many: boolean): void {
  if (!resourceOf(entity)!.owned) return;
  type Clash = { clashing: readonly number[] };
  if (many)
    method(
      Payload,
      'conflicts',
      function (this: Clash, context: Context, info: GraphQLResolveInfo) {
        return loadLinked(entity, this.clashing, context, info);
      },
      [Ctx(), Info()],
      Field(() => [entity], { description: `CONFLICT: each row ${AS_NOW}` }),
    );
  else
    method(
      Payload,
      'conflict',
      function (this: Clash, context: Context, info: GraphQLResolveInfo) {
        return this.clashing.length ? readOne(entity, this.clashing[0], context, info) : null;
      },
      [Ctx(), Info()],
      Field(() => entity, { nullable: true, description: `CONFLICT: the row ${AS_NOW}` }),
    );
}

/** Made by a mutation: what was written, or nothing and the errors. */
export type Payload<T> = ClassType & (new (written: T | null, fieldErrors: FieldError[], clashing?: readonly number[]) => object);

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
        readonly fieldErrors: FieldError[],
        readonly clashing: readonly number[] = [],
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
  showConflicts(Payload, entity, many);
  ObjectType(name, { description, simpleResolvers: true })(Payload);
  return Payload as Payload<T>;
}

const fieldErrorsOf = (fields: Mistakes) =>
  Object.entries(fields).flatMap(([path, mistakes]) => {
    const codes = [...new Set(mistakes.map(({ code }) => code))];
    const messages = (of: MistakeCode) => mistakes.filter(({ code }) => code === of).map(({ message }) => message);
    return codes.map((code) => new FieldError(path, code, messages(code)));
  });

export const versionErrors = ({ paths }: OtherVersion): FieldError[] =>
  paths.map((path) => new FieldError(path, MistakeCode.CONFLICT, [OTHER_VERSION]));

export async function answered<T>(Payload: Payload<T>, write: () => Promise<T>): Promise<object> {
  try {
    return new Payload(await write(), []);
  } catch (error) {
    if (error instanceof InvalidValues) return new Payload(null, fieldErrorsOf(error.fields));
    if (error instanceof OtherVersion) return new Payload(null, versionErrors(error), error.ids);
    throw error;
  }
}
