/**
 * Operations as compiled functions. graphql-js is the meaning; graphql-jit is faster, and differs from it in some operations. So what clients
 * send is compiled only if it is of a shape that a differential fuzz has shown to be equal, only once it came again, and what the
 * compiled function says counts only if it says no error. What is kept is bounded in bytes.
 */
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import {
  getNamedType,
  GraphQLScalarType,
  isAbstractType,
  Kind,
  OperationTypeNode,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  BREAK,
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context';

/** Runs with variables that are coerced already. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<ExecutionResult> | ExecutionResult;

/** How often a document runs by graphql-js before it is worth the time of compiling. */
const USES_BEFORE_COMPILED = 3;
/** More fields than this take so long to compile that others would wait. */
const MAX_FIELDS = 300;
/** Measured: up to 5 KB as it is made, parsed document included, and as much again once it has run. */
const BYTES_PER_FIELD = 12_000;
const MAX_BYTES = 48 * 1024 ** 2;

/** Variables are coerced by graphql-js, and the compiled operation takes them as they come: as those of a scalar that takes anything. */
const TAKEN = new GraphQLScalarType({ name: 'Taken' });

const taking = (schema: GraphQLSchema): GraphQLSchema =>
  Object.create(schema, { getType: { value: (name: string) => (name === TAKEN.name ? TAKEN : schema.getType(name)) } }) as GraphQLSchema;

/** The same document with untyped variables; its own, because the compiler writes into what it is given. */
function untyped(document: DocumentNode): DocumentNode {
  return visit(parse(print(document), { noLocation: true }), {
    VariableDefinition: ({ kind, variable }) => ({
      kind,
      variable,
      type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: TAKEN.name } },
    }),
  });
}

/** Throws what the compiler says of a document that it cannot compile. */
export function compiled(schema: GraphQLSchema, document: DocumentNode): Run {
  const made = compileQuery(taking(schema), untyped(document), undefined, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(made)) throw new AggregateError(made.errors ?? [], 'This operation cannot be compiled.');
  return (context, variables) => made.query(undefined, context, variables);
}

/** How many fields the operation has with all fragments spread; a fragment is counted once, however often it is spread. */
function fieldsOf(document: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const counts = new Map<string, number>();
  const count = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((total, selection) => {
      if (selection.kind !== Kind.FRAGMENT_SPREAD) return total + (selection.kind === Kind.FIELD ? 1 : 0) + count(selection.selectionSet);
      const name = selection.name.value;
      if (!counts.has(name)) counts.set(name, count(fragments.get(name)?.selectionSet));
      return total + counts.get(name)!;
    }, 0);
  let total = 0;
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  for (const definition of document.definitions) if (definition.kind === Kind.OPERATION_DEFINITION) total += count(definition.selectionSet);
  return total;
}

/**
 * Whether a valid document is of the shape for which compiled and interpreted runs are shown to be equal: a single query, without directives,
 * fields of abstract types, introspection, and variables within a list or an input object.
 */
export function isOfProvenShape(schema: GraphQLSchema, document: DocumentNode): boolean {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operations.length !== 1 || operations[0]!.operation !== OperationTypeNode.QUERY) return false;
  const types = new TypeInfo(schema);
  let proven = true;
  let nesting = 0;
  const unproven = () => {
    proven = false;
    return BREAK;
  };
  const nested = { enter: () => void (nesting += 1), leave: () => void (nesting -= 1) };
  visit(
    document,
    visitWithTypeInfo(types, {
      Directive: unproven,
      Field: (node) => {
        const [parent, type] = [types.getParentType(), types.getType()];
        const meta = node.name.value.startsWith('__') && node.name.value !== '__typename';
        return meta || isAbstractType(parent) || !type || isAbstractType(getNamedType(type)) ? unproven() : undefined;
      },
      ListValue: nested,
      ObjectValue: nested,
      Variable: () => (nesting > 0 ? unproven() : undefined),
    }),
  );
  return proven;
}

/** The compiled operations of clients. */
export class CompiledOperations {
  private readonly uses = new WeakMap<DocumentNode, number>();
  private readonly kept = new LRUCache<DocumentNode, Run>({ maxSize: MAX_BYTES });

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly usesBefore = USES_BEFORE_COMPILED,
  ) {}

  get size(): { count: number; bytes: number } {
    return { count: this.kept.size, bytes: this.kept.calculatedSize };
  }

  /** The operation of a document as a function, if it is worth one. */
  of(document: DocumentNode): Run | undefined {
    const run = this.kept.get(document);
    if (run) return run;
    const uses = this.uses.get(document) ?? 0;
    if (uses < this.usesBefore) return void this.uses.set(document, uses + 1);
    // Found unfit once, it is so for ever.
    if (uses === Infinity) return undefined;
    const fields = fieldsOf(document);
    if (fields > MAX_FIELDS || !isOfProvenShape(this.schema, document)) return void this.uses.set(document, Infinity);
    try {
      const made = compiled(this.schema, document);
      this.kept.set(document, made, { size: (fields + 1) * BYTES_PER_FIELD });
      return made;
    } catch {
      // What the compiler cannot do, graphql-js can.
      return void this.uses.set(document, Infinity);
    }
  }
}
