/** Operations of our own: read, checked and compiled once for a schema, whose apps all run the same ones. */
import { getOperationAST, parse, validate, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { compiled, type Run } from './compiled';
import { KnownCosts } from './knowncosts';

export class Prepared {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly costs: KnownCosts;
  private run?: Run;

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

  private static readonly known = new WeakMap<GraphQLSchema, Map<string, Prepared>>();

  static of(schema: GraphQLSchema, text: string): Prepared {
    const known = Prepared.known.get(schema) ?? new Map<string, Prepared>();
    Prepared.known.set(schema, known);
    const prepared = known.get(text) ?? new Prepared(schema, text);
    known.set(text, prepared);
    return prepared;
  }

  get compiled(): Run {
    return (this.run ??= compiled(this.schema, this.document));
  }
}
