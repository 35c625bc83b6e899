/**
 * `fitgraph explain`: prints where a GraphQL name or a REST endpoint is declared, which files
 * answer it, and the SQL of a sample request.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  execute,
  getNamedType,
  getNullableType,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';
import leven from 'leven';
import { getMetadataStorage } from 'type-graphql';
import type { DatabaseSession } from '../database/session';
import type { Context } from '../engine/context';
import { ClientError } from '../engine/declare/errors';
import { fieldsOf } from '../engine/declare/fields';
import { POLICIES_BY_API } from '../engine/declare/policies';
import { findEntity } from '../engine/declare/registry';
import { Loaders } from '../engine/read/batch-loader';
import { buildGraphQLSchema, buildRestSchema } from '../graphql/schema';
import type { ApiName } from '../shared/metadata';
import { printLine, withDatabase } from './command-context';

type Field = GraphQLField<unknown, unknown>;

/** What a name refers to: an object type, or one of its fields. */
interface ExplainTarget {
  api: ApiName;
  type: GraphQLObjectType;
  field?: Field;
}

/** A selection set to run as a sample, and the type and object on which it is executed. */
interface SampleRequest {
  type: GraphQLObjectType;
  selection: string;
  sourceObject: object;
}

const BUILD_FOLDER = path.join(__dirname, '..');

/** Source files that answer every REST request before its GraphQL operation runs. */
const REST_FILES = ['src/rest/router.ts', 'src/rest/route-handler.ts'];
const SUGGESTION_COUNT = 3;

/** User id of the sample request, which belongs to no account. */
const NO_USER_ID = 2 ** 31 - 1;

const objectTypes = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).filter(isObjectType);

/**
 * Finds everything that can be explained: schema coordinates
 * (https://spec.graphql.org/draft/#sec-Schema-Coordinates) and REST endpoints.
 */
function findExplainTargets(): Map<string, ExplainTarget> {
  const targets = new Map<string, ExplainTarget>();

  for (const type of objectTypes(buildGraphQLSchema())) {
    targets.set(type.name, { api: 'graphql', type });

    for (const field of Object.values(type.getFields())) {
      targets.set(`${type.name}.${field.name}`, { api: 'graphql', type, field });
    }
  }

  const query = buildRestSchema().getQueryType()!;

  for (const field of Object.values(query.getFields())) {
    for (const restPath of field.extensions.endpoint?.paths ?? []) {
      targets.set(restPath, { api: 'rest', type: query, field });
    }
  }

  for (const { extensions } of objectTypes(buildRestSchema())) {
    for (const { restName } of extensions.resource?.views ?? []) {
      targets.set(restName, {
        api: 'rest',
        type: query,
        field: query.getFields()[extensions.resource!.listQueryName],
      });
    }
  }

  return targets;
}

const sourceFileOf = (builtFile: string) =>
  `src/${path.relative(BUILD_FOLDER, builtFile).replace(/\.js$/, '.ts')}`;

/**
 * Finds the file that exports a class or its subclass, or else contains the class. The name of a
 * generated class, such as `WeightEntryConnection`, begins with the name of a class in the source.
 */
function sourceFileOfClass(declaredClass: { name: string }): string | undefined {
  const modules = Object.values(require.cache).filter((module) =>
    module!.filename.startsWith(BUILD_FOLDER),
  ) as NodeJS.Module[];
  const exportsClass = ({ exports }: NodeJS.Module) =>
    Object.values(exports as object).some((value) =>
      [value, Object.getPrototypeOf(Object(value))].includes(declaredClass),
    );
  const sourceTexts = modules.map(({ filename }) => readFileSync(filename, 'utf8'));
  let module = modules.find(exportsClass);

  for (let { name } = declaredClass; !module && name; name = name.slice(0, -1)) {
    module = modules[sourceTexts.findIndex((text) => text.includes(`class ${name} `))];
  }

  return module && sourceFileOf(module.filename);
}

/** Finds the file of the resource or analysis that declares a type or field. */
function declaringFile({ type, field }: ExplainTarget): string | undefined {
  const {
    queries,
    mutations,
    subscriptions,
    fieldResolvers,
    objectTypes: declaredTypes,
  } = getMetadataStorage();
  const typeClass = declaredTypes.find(({ name }) => name === type.name)?.target;
  const resolvers =
    { Query: queries, Mutation: mutations, Subscription: subscriptions }[type.name] ??
    fieldResolvers.filter(({ getObjectType }) => getObjectType?.() === typeClass);
  const declaringClass =
    resolvers.find(({ schemaName }) => schemaName === field?.name)?.target ?? typeClass;

  return declaringClass && sourceFileOfClass(declaringClass);
}

const SAMPLE_SCALARS: Readonly<Record<string, string>> = {
  Int: '1',
  Float: '1',
  Boolean: 'true',
  Date: '"2026-01-01"',
  DateTime: '"2026-01-01T00:00:00Z"',
};

function sampleValue(inputType: GraphQLInputType): string {
  const type = getNullableType(inputType);

  if (isListType(type)) return `[${sampleValue(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]!.name;

  if (isInputObjectType(type)) {
    return `{${sampleArguments(Object.values(type.getFields()).filter(isRequiredInputField))}}`;
  }

  return SAMPLE_SCALARS[type.name] ?? '"1"';
}

const sampleArguments = (args: readonly { name: string; type: GraphQLInputType }[]) =>
  args.map(({ name, type }) => `${name}: ${sampleValue(type)}`).join(', ');

/**
 * Builds a sample selection set on the rows of a type: the given field, or else the id, or else all
 * plain values.
 */
function sampleSelection(outputType: GraphQLOutputType, fieldName?: string): string {
  const type = getNamedType(outputType);

  if (isLeafType(type)) return '';
  let typeFields: Record<string, Field> = {};

  if (isObjectType(type)) typeFields = type.getFields();
  const { nodes, id, ...fields } = typeFields;

  if (nodes) return `{ nodes ${sampleSelection(nodes.type, fieldName)} }`;
  if (fieldName) return `{ ${fieldName} }`;
  if (id) return '{ id }';
  const values = Object.values(fields).filter(
    (field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument),
  );

  return `{ ${['__typename', ...values.map(({ name }) => name)].join(' ')} }`;
}

function sampleField({ name, args, type }: Field, fieldName?: string): string {
  const requiredArgs = args.filter(isRequiredArgument);

  return `${name}${requiredArgs.length ? `(${sampleArguments(requiredArgs)})` : ''} ${sampleSelection(type, fieldName)}`.trim();
}

/**
 * Builds a sample request: plain values are selected from a list of rows, relations from a made-up
 * row.
 */
function createSample(
  { type, field }: ExplainTarget,
  query: GraphQLObjectType,
): SampleRequest | undefined {
  if (['Query', 'Mutation'].includes(type.name)) {
    return field && { type, selection: `{ ${sampleField(field)} }`, sourceObject: {} };
  }

  const list = query.getFields()[type.extensions.resource?.listQueryName ?? ''];

  if (list && (!field || isLeafType(getNamedType(field.type)))) {
    return { type: query, selection: `{ ${sampleField(list, field?.name)} }`, sourceObject: {} };
  }

  const entity = findEntity(type.name);

  if (!field || !entity) return undefined;
  const row = Object.fromEntries(
    fieldsOf(entity).map(({ name, relation }) => [name, relation?.isToMany ? [1] : 1]),
  );

  return { type, selection: `{ ${sampleField(field)} }`, sourceObject: row };
}

/**
 * Runs a sample in a read-only transaction. Returns its SQL statements and the source files that
 * were involved, in the order of their calls.
 */
async function runSample(
  { type, selection, sourceObject }: SampleRequest,
  schema: GraphQLSchema,
  api: ApiName,
  session: DatabaseSession,
) {
  const statements: string[] = [];
  const files = new Set<string>();
  const context = {
    api,
    policies: POLICIES_BY_API[api],
    session,
    loaders: new Loaders(),
    request: { languages: [], baseUrl: '', basePath: '' },
    viewer: {
      id: NO_USER_ID,
      username: '',
      isSuperuser: false,
      isCurator: false,
      hasContributions: false,
      timeZone: null,
      language: null,
    },
    timeZone: 'UTC',
    services: {
      catalogue: { get: () => null, rowsOf: () => [] },
      derivedValues: {
        getOrCompute: (_name: string, _id: number, _context: Context, compute: () => unknown) =>
          compute(),
      },
    },
  };
  // Finds the source files in the call stack whenever a resolver, or a function that it calls,
  // reads from the context.
  const contextValue = new Proxy(context, {
    get(target, property) {
      const stackFiles = new Error()
        .stack!.split('\n')
        .slice(2)
        .map((call) => /\/[^():]+/.exec(call)?.[0] ?? '');
      const callers = stackFiles
        .slice(0, stackFiles.includes(__filename) ? stackFiles.indexOf(__filename) : undefined)
        .reverse();

      for (const file of callers) if (file.startsWith(BUILD_FOLDER)) files.add(sourceFileOf(file));

      return Reflect.get(target, property) as unknown;
    },
  });

  const recordStatement = (text: string) => {
    statements.push(text);
    return () => undefined;
  };

  let rootSchema = schema;

  if (type !== schema.getQueryType()) {
    rootSchema = new GraphQLSchema({
      ...schema.toConfig(),
      query: type,
      mutation: null,
      subscription: null,
      assumeValid: true,
    });
  }

  Error.stackTraceLimit = 100;
  session.setClient('users', NO_USER_ID);
  await session.atomically(async () => {
    await session.query('SET TRANSACTION READ ONLY');
    session.trace = {
      beginStatementSpan: recordStatement,
      recordStatementSpan: recordStatement,
      traceOperation: async (_type, _name, run) => run(),
    };
    await execute({
      schema: rootSchema,
      document: parse(selection),
      rootValue: sourceObject,
      contextValue,
    });
    session.trace = undefined;
    return { shouldCommit: false, result: undefined };
  });

  return { statements, files };
}

export async function explain(name: string): Promise<void> {
  const targets = findExplainTargets();
  const target = targets.get(name.replace(/^\/?(?:api\/v2\/)?|\/$/g, ''));

  if (!target) {
    const suggestions = [...targets.keys()]
      .sort((a, b) => leven(name, a) - leven(name, b))
      .slice(0, SUGGESTION_COUNT);

    throw new ClientError(
      'BAD_USER_INPUT',
      `The schema has no object type, field or REST endpoint ${name}. Similar: ${suggestions.join(', ')}.`,
    );
  }

  const { api, type, field } = target;
  const schema = api === 'rest' ? buildRestSchema() : buildGraphQLSchema();

  printLine(
    `${field ? `${type.name}.${field.name}` : type.name}\ndeclared in ${declaringFile(target) ?? 'the engine'}`,
  );
  const sample = createSample(target, schema.getQueryType()!);

  if (!sample) return;
  await withDatabase(
    async ({ session }) => {
      const { statements, files } = await runSample(sample, schema, api, session);

      printLine(
        `answered by ${[...(api === 'rest' ? REST_FILES : []), ...files].join('\n            ')}`,
      );
      printLine(`\nSQL of ${sample.type.name} ${sample.selection}:`);

      for (const statement of statements.length ? statements : ['none']) {
        printLine(`\n${statement}`);
      }
    },
    { migrate: false, needsSecretKey: false },
  );
}
