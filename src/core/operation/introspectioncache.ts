/**
 * Answers to introspection, kept with their JSON: clients and code generators send the same few documents, whose answers depend on the
 * schema alone. Only answers long enough to be worth it are kept.
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

/** In characters of JSON: an answer that is kept, and all of them; the objects they are made from take about as much again. */
const LONG_CHARACTERS = 1 << 16;
const MAX_CHARACTERS = 6 << 20;

const EVERY_OPTION = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

const texts = new WeakMap<object, string>();

/** The JSON of data that is kept; undefined of any other. */
export const cachedJson = (data: object | null | undefined): string | undefined => (data ? texts.get(data) : undefined);

export class IntrospectionAnswers {
  private readonly kept = new LRUCache<string, ExecutionResult>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ data }) => cachedJson(data)!.length,
  });

  constructor(private readonly schema: GraphQLSchema) {}

  /** Prepares the answers to the documents of graphql-js, which most clients send. */
  prepare(): void {
    for (const options of [{}, EVERY_OPTION]) {
      const document = parse(getIntrospectionQuery(options));
      this.of(document, getOperationAST(document)!);
    }
  }

  /** Undefined where the operation asks for more than the schema, or depends on variables. Whoever asks has passed all checks. */
  of(document: DocumentNode, operation: OperationDefinitionNode): ExecutionResult | undefined {
    if (!isPlain(document, operation)) return undefined;
    // Clients name the operation and set spaces as they like.
    const key = print({
      ...document,
      definitions: document.definitions.map((one) => (one === operation ? { ...one, name: undefined } : one)),
    });
    const known = this.kept.get(key);
    if (known) return known;
    const result = executeSync({ schema: this.schema, document });
    const text = !result.errors && result.data ? JSON.stringify(result.data) : '';
    if (text.length < LONG_CHARACTERS) return result;
    texts.set(result.data!, text);
    this.kept.set(key, result);
    return result;
  }
}

/** Whether a document asks for `__schema` and nothing else, without variables. */
const isPlain = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
  !operation.variableDefinitions?.length &&
  operation.selectionSet.selections.every((one) => one.kind === Kind.FIELD && one.name.value === SchemaMetaFieldDef.name) &&
  document.definitions.every((one) => one === operation || one.kind === Kind.FRAGMENT_DEFINITION);
