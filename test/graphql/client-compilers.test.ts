/**
 * Client compilers on schema.graphql: relay-compiler and graphql-codegen, which generates
 * TypeScript types.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isScalarType, isSpecifiedScalarType } from 'graphql';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { compileForRelay } from '../setup/relay-compiler';

const root = path.join(__dirname, '../..');
const schemaFile = path.join(root, 'schema.graphql');

let folder: string;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-clients-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const write = (file: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(path.join(folder, file), text);
};

const RELAY: Record<string, string> = {
  // A paginated connection.
  WeightList: `fragment WeightList_query on Query @refetchable(queryName: "WeightListPaginationQuery")
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }) {
    weightEntries(first: $count, after: $cursor, orderBy: [{ date: DESC }]) @connection(key: "WeightList_weightEntries") {
      edges { node { nodeId ...WeightRow_entry } } } }`,
  WeightRow: 'fragment WeightRow_entry on WeightEntry { id date weight }',
  WeightPage: 'query WeightPageQuery { ...WeightList_query viewer { name } }',
  // Refetched by `nodeId`.
  WorkoutCard:
    'fragment WorkoutCard_workout on Workout @refetchable(queryName: "WorkoutCardRefetchQuery") { id name }',
  WorkoutPage:
    'query WorkoutPageQuery($nodeId: ID!) { node(nodeId: $nodeId) { __typename nodeId ...WorkoutCard_workout @alias } }',
  NewWeight: `mutation NewWeightMutation($input: WeightEntryInput!, $connections: [ID!]!) { createWeightEntry(input: $input) {
    weightEntry @appendNode(connections: $connections, edgeTypeName: "WeightEntryEdge") { nodeId ...WeightRow_entry }
    errors { path message } } }`,
};

describe('relay-compiler', () => {
  const compile = (documents: Record<string, string>) =>
    compileForRelay(folder, documents, 'typescript');
  const artifact = (name: string) =>
    fs.readFileSync(path.join(folder, 'src/__generated__', `${name}.graphql.ts`), 'utf8');

  test('compiles fragments, connections, refetches, a node and a mutation', () => {
    const { status, said } = compile(RELAY);

    expect([status, said]).toEqual([0, expect.not.stringContaining('✖')]);
    const made = fs
      .readdirSync(path.join(folder, 'src/__generated__'))
      .map((file) => file.replace('.graphql.ts', ''));

    expect(made.sort()).toEqual([
      'NewWeightMutation',
      'WeightListPaginationQuery',
      'WeightList_query',
      'WeightPageQuery',
      'WeightRow_entry',
      'WorkoutCardRefetchQuery',
      'WorkoutCard_workout',
      'WorkoutPageQuery',
    ]);
    expect(artifact('WorkoutCardRefetchQuery')).toMatch(/node\(nodeId: \$nodeId\)/);
    expect(artifact('WeightListPaginationQuery')).toMatch(/pageInfo \{\\n\s+endCursor/);
  });

  test('rejects a field that the schema does not have', () => {
    const { status, said } = compile({
      Wrong: 'query WrongQuery { weightEntries(first: 1) { edges { node { heaviness } } } }',
    });

    expect([status, said]).toEqual([1, expect.stringContaining('heaviness')]);
  });
});

const scalars = Object.values(buildGraphQLSchema().getTypeMap())
  .filter(isScalarType)
  .filter((type) => !isSpecifiedScalarType(type))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/**
 * TypeScript types from the scalars' extensions. schema.graphql does not contain them, so users of
 * the file configure them.
 */
const SCALARS = Object.fromEntries(
  scalars.map(({ name, extensions }) => [name, extensions.codegenScalarType]),
);

test('every scalar has a specification URL and a documented TypeScript type', () => {
  expect(SCALARS).toEqual({
    Date: 'string',
    DateTime: 'string',
    Time: 'string',
    Decimal: 'string',
    Upload: 'Blob',
  });
  for (const { specifiedByURL } of scalars) expect(specifiedByURL).toMatch(/^https:\/\//);
  expect(fs.readFileSync(path.join(root, 'docs/graphql.md'), 'utf8')).toContain(
    `scalars: { ${Object.entries(SCALARS)
      .map(([name, type]) => `${name}: '${type}'`)
      .join(', ')} }`,
  );
});

describe('graphql-codegen', () => {
  // A separate program, because Jest cannot load the plugins, which are ES modules.
  const PROGRAM = `
    import { codegen } from '@graphql-codegen/core';
    import * as typescript from '@graphql-codegen/typescript';
    import * as operations from '@graphql-codegen/typescript-operations';
    import { readFileSync, writeFileSync } from 'node:fs';
    import { parse } from 'graphql';
    const [schemaFile, documentsFile, folder, scalars, nullability] = process.argv.slice(2);
    const read = (file) => parse(readFileSync(file, 'utf8'));
    const schema = read(schemaFile);
    const config = { scalars: JSON.parse(scalars), nullability: JSON.parse(nullability) };
    const make = async (filename, documents, plugin) =>
      writeFileSync(folder + '/' + filename, await codegen({ filename, schema, documents, config, plugins: [{ plugin: {} }], pluginMap: { plugin } }));
    await make('schema.ts', [], typescript);
    await make('operations.ts', [{ location: documentsFile, document: read(documentsFile) }], operations);`;
  const DOCUMENTS = `
    query Weights($first: Int!, $where: WeightEntryWhere) {
      weightEntries(first: $first, where: $where) { totalCount nodes { ...Row } pageInfo { hasNextPage endCursor } } }
    fragment Row on WeightEntry { id date weight }
    mutation Create($input: WeightEntryInput!) { createWeightEntry(input: $input) { weightEntry { ...Row } errors { path message } } }
    query AnyRow($nodeId: ID!) { node(nodeId: $nodeId) { __typename ... on Exercise { name } ... on WeightEntry { ...Row } } }`;
  const USE = `
    import type { AnyRowQuery, CreateMutation, CreateMutationVariables, WeightsQuery, WeightsQueryVariables } from './operations';
    import type { WeightEntry } from './schema';
    export const asked: WeightsQueryVariables = { first: 3, where: { weight: { eq: '80.00' } } };
    export const weights = (answer: WeightsQuery): string[] => answer.weightEntries.nodes.map(({ weight }) => weight);
    export const sent: CreateMutationVariables = { input: { date: '2021-03-10', weight: '80.00' } };
    export const made = ({ createWeightEntry: answer }: CreateMutation): string | undefined =>
      answer?.weightEntry ? answer.weightEntry.id : answer?.errors.map(({ path, message }) => path.join('.') + message).join();
    export const shown = ({ weight }: Pick<WeightEntry, 'weight'>): string => weight;
    export const named = ({ node }: AnyRowQuery): string | undefined => (node?.__typename === 'Exercise' ? node.name : node?.__typename);`;

  function compileProgram(use: string): { status: number | null; said: string } {
    write('use.ts', use);
    const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'use.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });

    return { status, said: stdout };
  }

  function make(nullability: object): void {
    write('documents.graphql', DOCUMENTS);
    const files = [
      schemaFile,
      path.join(folder, 'documents.graphql'),
      folder,
      JSON.stringify(SCALARS),
      JSON.stringify(nullability),
    ];

    execFileSync(process.execPath, ['--input-type=module', '-', ...files], {
      cwd: root,
      input: PROGRAM,
    });
  }

  test('generates nullable lists by default', () => {
    make({});
    expect(compileProgram(USE)).toEqual({
      status: 2,
      said: expect.stringContaining("'answer.weightEntries' is possibly 'null'"),
    });
  });

  test('generates types that detect type errors when the client throws errors', () => {
    make({ errorHandlingClient: true });
    expect(compileProgram(USE)).toEqual({ status: 0, said: '' });
    const wrong = compileProgram(
      USE.replace('({ weight }) => weight)', '({ weight }) => weight * 2)'),
    );

    expect(wrong).toEqual({ status: 2, said: expect.stringContaining('use.ts') });
  });
});
