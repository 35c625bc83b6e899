/** Several schemas in one process: the same declarations can be built repeatedly, and the schemas are independent. */
import {
  isEnumType,
  isInputObjectType,
  isObjectType,
  parse,
  printSchema,
  type GraphQLSchema,
} from 'graphql';
import { Executor } from '../../src/core/operation/executor';
import { deriveGraphQLSchema } from '../../src/graphql/schematransforms';
import { buildFullSchema, buildGraphQLSchema } from '../../src/graphql/schema';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { Contexts } from './fuzz/differential';

const fitgraph = fitgraphForThisFile();
const schemas = [buildFullSchema(), buildFullSchema()];
const [one, other] = schemas as [GraphQLSchema, GraphQLSchema];

/** Returns the extensions of types and fields, which the printed schema does not contain. */
const extensionsOf = (schema: GraphQLSchema): Record<string, unknown> =>
  Object.fromEntries(
    Object.values(schema.getTypeMap()).map((type) => [
      type.name,
      [
        type.extensions,
        ...(isObjectType(type) || isInputObjectType(type)
          ? Object.values(type.getFields()).map(({ extensions }) => extensions)
          : []),
      ],
    ]),
  );

test('builds schemas with equal text and equal extensions', () => {
  expect(printSchema(other)).toBe(printSchema(one));
  expect(extensionsOf(other)).toEqual(extensionsOf(one));
  expect(printSchema(deriveGraphQLSchema(other))).toBe(printSchema(buildGraphQLSchema()));
});

test('builds schemas that share no type', () => {
  const own = Object.values(one.getTypeMap()).filter(
    (type) =>
      (isObjectType(type) || isInputObjectType(type) || isEnumType(type)) &&
      !type.name.startsWith('__'),
  );
  expect(own.length).toBeGreaterThan(300);
  expect(own.filter((type) => other.getType(type.name) === type)).toEqual([]);
});

test('executes operations on each schema over the same rows', async () => {
  const ann = await fitgraph.user('ann');
  const contexts = new Contexts(fitgraph);
  const create = parse(`mutation ($comment: String!, $date: Date!) {
    createWorkout(input: { name: $comment }) { workout { id nodeId } }
    createWeightEntry(input: { date: $date, weight: "80" }) { fieldErrors { message } }
  }`);
  const list = parse(`query ($some: [String!]!) {
    workouts(where: { name: { in: $some } }, orderBy: { id: ASC }) { nodes { name nodeId } }
    weightEntriesGrouped(where: { date: { in: ["2021-03-01", "2021-03-02"] } }) { count }
  }`);
  const executors = schemas.map((schema) => new Executor(deriveGraphQLSchema(schema)));
  const comments = ['first', 'second'];
  const made: unknown[] = [];
  for (const [index, executor] of executors.entries()) {
    const { data } = (await executor.execute(create, undefined, await contexts.of(ann.token), {
      comment: comments[index],
      date: `2021-03-0${index + 1}`,
    })) as any;
    made.push({ name: comments[index], nodeId: data.createWorkout.workout.nodeId });
  }
  for (const executor of executors) {
    const answer = await executor.execute(list, undefined, await contexts.of(ann.token), {
      some: comments,
    });
    expect(answer).toEqual({
      data: { workouts: { nodes: made }, weightEntriesGrouped: [{ count: 2 }] },
    });
  }
});
