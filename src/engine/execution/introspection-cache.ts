/**
 * Cache of introspection results and their JSON. Clients and code generators send the same few
 * documents, whose results depend only on the schema. Short results are not cached.
 */
import {
  executeSync,
  getIntrospectionQuery,
  getOperationAST,
  Kind,
  parse,
  print,
  SchemaMetaFieldDef,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';

/**
 * Minimum length of a cached result and maximum size of the cache, in characters of JSON. The
 * cached result objects take about the same memory again.
 */
const MIN_CACHED_CHARACTERS = 1 << 16;
const MAX_CACHE_CHARACTERS = 6 << 20;

const ALL_INTROSPECTION_OPTIONS = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

const jsonByData = new WeakMap<object, string>();

/** JSON of the `data` of a cached introspection result. */
export const cachedIntrospectionJson = (data: object | null | undefined): string | undefined =>
  data ? jsonByData.get(data) : undefined;

type ResultCache = LRUCache<string, ExecutionResult>;

const cachesBySchema = new WeakMap<GraphQLSchema, ResultCache>();

function cacheForSchema(schema: GraphQLSchema): ResultCache {
  const existingCache = cachesBySchema.get(schema);

  if (existingCache) return existingCache;
  const sizeCalculation = ({ data }: ExecutionResult) => cachedIntrospectionJson(data)!.length;
  const cache: ResultCache = new LRUCache({ maxSize: MAX_CACHE_CHARACTERS, sizeCalculation });

  cachesBySchema.set(schema, cache);
  return cache;
}

/**
 * Caches the introspection queries that graphql-js generates, which most clients send. They take
 * about 130 ms, so the server executes them before it serves requests.
 */
export function warmUpIntrospectionCache(schema: GraphQLSchema): void {
  for (const options of [{}, ALL_INTROSPECTION_OPTIONS]) {
    const document = parse(getIntrospectionQuery(options));

    introspectionResult(schema, document, getOperationAST(document)!);
  }
}

/**
 * Executes a validated query that selects only `__schema` and has no variables. Other operations
 * are left to the executor (undefined).
 */
export function introspectionResult(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): ExecutionResult | undefined {
  if (!isPureIntrospection(document, operation)) return undefined;
  // The cache key ignores whitespace and the name of the operation, which differ between clients.
  const cacheKey = print({
    ...document,
    definitions: document.definitions.map((definition) =>
      definition === operation ? { ...definition, name: undefined } : definition,
    ),
  });
  const cache = cacheForSchema(schema);
  const cachedResult = cache.get(cacheKey);

  if (cachedResult) return cachedResult;
  const result = executeSync({ schema, document });
  const json = !result.errors && result.data ? JSON.stringify(result.data) : '';

  if (json.length < MIN_CACHED_CHARACTERS) return result;
  jsonByData.set(result.data!, json);
  cache.set(cacheKey, result);
  return result;
}

/** Whether a document has a single operation without variables that selects only `__schema`. */
const isPureIntrospection = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
  !operation.variableDefinitions?.length &&
  operation.selectionSet.selections.every(
    (selection) =>
      selection.kind === Kind.FIELD && selection.name.value === SchemaMetaFieldDef.name,
  ) &&
  document.definitions.every(
    (definition) => definition === operation || definition.kind === Kind.FRAGMENT_DEFINITION,
  );
