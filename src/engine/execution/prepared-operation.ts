/**
 * Prepared operations of the server itself (REST, HTML pages): parsed once per schema and process,
 * validated and compiled on first use.
 */
import {
  getOperationAST,
  parse,
  print,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { compileOperation, type CompiledOperation } from './compiled';
import { CostCache } from './cost-cache';

export class PreparedOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly costCache: CostCache;
  private cachedCompiledOperation?: CompiledOperation;

  private constructor(
    private readonly schema: GraphQLSchema,
    text: string,
  ) {
    this.document = parse(text);
    this.operation = getOperationAST(this.document)!;
    this.costCache = new CostCache(schema, this.document, this.operation);
  }

  private static readonly operationsBySchema = new WeakMap<
    GraphQLSchema,
    Map<string, PreparedOperation>
  >();

  static getOrCreate(schema: GraphQLSchema, text: string): PreparedOperation {
    const operationsByText =
      PreparedOperation.operationsBySchema.get(schema) ?? new Map<string, PreparedOperation>();

    PreparedOperation.operationsBySchema.set(schema, operationsByText);
    const preparedOperation = operationsByText.get(text) ?? new PreparedOperation(schema, text);

    operationsByText.set(text, preparedOperation);
    return preparedOperation;
  }

  /**
   * The compiled operation. Created on first use, because compiling all operations would take a
   * tenth of the startup time. Throws if the document is invalid.
   */
  get compiledOperation(): CompiledOperation {
    return (this.cachedCompiledOperation ??= this.compile());
  }

  private compile(): CompiledOperation {
    const errors = validate(this.schema, this.document);

    if (errors.length) throw new Error(`${errors.join('\n')}\n${print(this.document)}`);

    return compileOperation(this.schema, this.document);
  }
}
