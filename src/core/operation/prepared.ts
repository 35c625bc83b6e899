/** Prepared operations of the server itself: parsed, validated and compiled once per schema, and shared by all apps on that schema. */
import { getOperationAST, parse, validate, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { compiled, type Run } from './compiled';
import { KnownCosts } from './knowncosts';

export class Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly costs: KnownCosts;
  private compiledOperation?: Run;

  private constructor(
    private readonly schema: GraphQLSchema,
    text: string,
  ) {
    this.document = parse(text);
    const errors = validate(schema, this.document);
    if (errors.length) throw new Error(`${errors.join('\n')}\n${text}`);
    this.operation = getOperationAST(this.document)!;
    this.costs = new KnownCosts(schema, this.document, this.operation);
  }

  private static readonly operationsBySchema = new WeakMap<GraphQLSchema, Map<string, Prepared>>();

  static of(schema: GraphQLSchema, text: string): Prepared {
    const operations = Prepared.operationsBySchema.get(schema) ?? new Map<string, Prepared>();
    Prepared.operationsBySchema.set(schema, operations);
    const prepared = operations.get(text) ?? new Prepared(schema, text);
    operations.set(text, prepared);
    return prepared;
  }

  get compiled(): Run {
    return (this.compiledOperation ??= compiled(this.schema, this.document));
  }
}
