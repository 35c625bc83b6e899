/** Limits the size of GraphQL documents and the time of validating them. */
import {
  BREAK,
  GraphQLError,
  Kind,
  Lexer,
  SchemaMetaFieldDef,
  Source,
  TokenKind,
  isObjectType,
  visit,
  type ASTNode,
  type ASTVisitor,
  type ASTVisitorKeyMap,
  type DocumentNode,
  type FieldNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  parse,
  specifiedRules,
  validate,
  type GraphQLSchema,
} from 'graphql';
import { visitFields } from '../engine/declare/selections';
import type { RateBudget } from '../engine/context';
import { ClientError, MAX_ERRORS_PER_RESPONSE } from '../engine/declare/errors';
import type { RequestContext } from '../request/request-context';
import { addToList } from '../shared/multimap';

/**
 * Validation stops one error below the maximum, because graphql-js then appends an error about the
 * abort.
 */
export const VALIDATION_OPTIONS = { maxErrors: MAX_ERRORS_PER_RESPONSE - 1 };

/** Parses and validates a client's operation. The time is charged to `budget`. */
export function parseAndValidateDocument(
  schema: GraphQLSchema,
  text: string,
  budget?: RateBudget,
): DocumentNode | readonly GraphQLError[] {
  const startedAt = performance.now();

  try {
    budget?.requireRemainingBudget();
    const document = parse(text, { maxTokens: MAX_TOKENS });
    const errors = validate(
      schema,
      document,
      [...specifiedRules, documentLimitsRule],
      VALIDATION_OPTIONS,
    );

    return errors.length ? errors.map(withValidationErrorCode) : document;
  } catch (error) {
    if (error instanceof ClientError) return [error];
    const { message, source, positions } = error as GraphQLError;

    return [
      new GraphQLError(message, {
        source,
        positions,
        extensions: { code: 'GRAPHQL_PARSE_FAILED' },
      }),
    ];
  } finally {
    budget?.chargeMilliseconds(performance.now() - startedAt);
  }
}

const withValidationErrorCode = ({ message, nodes, source, positions, extensions }: GraphQLError) =>
  new GraphQLError(message, {
    nodes,
    source,
    positions,
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...extensions },
  });

/** Parses and validates a client's operation in a fair turn of the client. */
export async function parseClientDocument(
  schema: GraphQLSchema,
  text: string,
  context: RequestContext,
): Promise<DocumentNode | readonly GraphQLError[]> {
  await context.awaitTurn();
  return parseAndValidateDocument(schema, text, context.budget);
}

export const MAX_TOKENS = 5_000;

/** Maximum number of lines, because graphql-js counts lines from the start to locate an error. */
const MAX_LINES = 5_000;
const MAX_FIELD_DEPTH = 20;
const MAX_ROOT_FIELDS = 100;

/** Maximum number of selections in a selection set. No type has even half as many fields. */
const MAX_SELECTIONS_PER_SET = 500;
const MAX_ALIASES_PER_DOCUMENT = 500;

/**
 * Maximum number of aliases in a selection set. It is low, because responses repeat aliases for
 * each row.
 */
const MAX_ALIASES_PER_SELECTION_SET = 50;
const MAX_ALIAS_CHARACTERS = 64;
const MAX_DIRECTIVES_PER_LOCATION = 5;

/**
 * Maximum number of estimated validation steps. Together with the limit of tokens, it bounds the
 * time of validation to about 20 ms.
 */
const MAX_VALIDATION_STEPS = 200_000;
const STEPS_PER_VISIT = 4;
const STEPS_PER_FRAGMENT_COMPARISON = 10;

/**
 * Maximum depth of nested brackets. Parsers and visitors are recursive, so deeper documents could
 * overflow the stack.
 */
const MAX_BRACKET_DEPTH = 200;

/**
 * Limits of documents with their descriptions, from which `npm run docs` generates the table in
 * docs/graphql.md.
 */
export const DOCUMENT_LIMITS: readonly (readonly [maximum: number, meaning: string])[] = [
  [MAX_TOKENS, 'tokens'],
  [MAX_LINES, 'lines'],
  [MAX_FIELD_DEPTH, 'levels of nested fields'],
  [MAX_BRACKET_DEPTH, 'levels of nested brackets'],
  [MAX_ROOT_FIELDS, 'root fields of an operation, including those of its fragments'],
  [
    MAX_SELECTIONS_PER_SET,
    'direct selections of one selection set, not counting the contents of fragments',
  ],
  [MAX_ALIASES_PER_DOCUMENT, 'aliases'],
  [MAX_ALIASES_PER_SELECTION_SET, "aliases of a field's selection set, including fragments"],
  [MAX_ALIAS_CHARACTERS, 'characters of an alias'],
  [MAX_DIRECTIVES_PER_LOCATION, 'directives per location'],
  [
    MAX_VALIDATION_STEPS,
    'steps of validation, which grow with the square of the fields that share a response path, and with the fragments that operations and fragments spread',
  ],
  [1, '`__schema`, and each field that issues credentials, such as `login`'],
];

const OPENING_BRACKETS = new Set<string>([
  TokenKind.BRACE_L,
  TokenKind.BRACKET_L,
  TokenKind.PAREN_L,
]);
const CLOSING_BRACKETS = new Set<string>([
  TokenKind.BRACE_R,
  TokenKind.BRACKET_R,
  TokenKind.PAREN_R,
]);

const textLimitError = (message: string, limit: number) =>
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_PARSE_FAILED', limit } });

/**
 * Checks the number of lines and the nesting of brackets. Uses only the lexer, because it runs
 * before the recursive parser.
 */
export function findTextLimitError(text: string): GraphQLError | undefined {
  if (text.split(/\r\n|[\n\r]/, MAX_LINES + 1).length > MAX_LINES) {
    return textLimitError(`The document has more than ${MAX_LINES} lines.`, MAX_LINES);
  }

  if ((text.match(/[[{(]/g)?.length ?? 0) <= MAX_BRACKET_DEPTH) return undefined;
  const lexer = new Lexer(new Source(text));
  let depth = 0;

  try {
    for (let tokenCount = 0; tokenCount < MAX_TOKENS; tokenCount += 1) {
      const { kind } = lexer.advance();

      if (kind === TokenKind.EOF) return undefined;

      if (OPENING_BRACKETS.has(kind)) depth += 1;
      else if (CLOSING_BRACKETS.has(kind)) depth -= 1;

      if (depth > MAX_BRACKET_DEPTH) {
        return textLimitError(
          `Brackets are nested deeper than ${MAX_BRACKET_DEPTH} levels.`,
          MAX_BRACKET_DEPTH,
        );
      }
    }
  } catch {
    // The parser reports lexical errors later.
  }

  return undefined;
}

/**
 * Creates the error for an exceeded limit. `extensions.limit` distinguishes it from other
 * validation errors.
 */
const createLimitError = (message: string, limit: number, node: ASTNode) =>
  new GraphQLError(message, { nodes: [node], extensions: { limit } });

/**
 * Walks the response paths of operations and fragments, including spread fragments, and checks the
 * limits of each path.
 */
class ResponsePathWalk {
  /** Names of the fragments that have been visited, because the walked definitions spread them. */
  readonly fragmentNames = new Set<string>();

  constructor(
    private readonly context: ValidationContext,
    private readonly steps: ValidationStepCounter,
  ) {}

  /**
   * Finds the first limit that is exceeded by selection sets with the same response path, or below
   * that path.
   */
  findError(selectionSets: readonly SelectionSetNode[], depth = 1): GraphQLError | undefined {
    const [node] = selectionSets;

    if (depth > MAX_FIELD_DEPTH) {
      return createLimitError(
        `Fields are nested deeper than ${MAX_FIELD_DEPTH} levels.`,
        MAX_FIELD_DEPTH,
        node!,
      );
    }

    const { fieldsByResponseName, aliasCount } = this.collectFields(selectionSets);

    if (this.steps.areExceeded) return validationStepsError(node!);

    if (depth > 1 && aliasCount > MAX_ALIASES_PER_SELECTION_SET) {
      return createLimitError(
        `A selection set can have at most ${MAX_ALIASES_PER_SELECTION_SET} aliases.`,
        MAX_ALIASES_PER_SELECTION_SET,
        node!,
      );
    }

    for (const fields of fieldsByResponseName.values()) {
      const children = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
      const error = children.length ? this.findError(children, depth + 1) : undefined;

      if (error) return error;
    }

    return undefined;
  }

  /**
   * Groups fields by response name, counts the steps of comparing them, and finds the maximum
   * number of aliases in one result object.
   */
  private collectFields(selectionSets: readonly SelectionSetNode[]): {
    fieldsByResponseName: Map<string, FieldNode[]>;
    aliasCount: number;
  } {
    const { context, steps } = this;
    const fieldsByResponseName = new Map<string, FieldNode[]>();
    const spreadFragmentNames = new Set<string>();

    /** Aliases by object type. The key '' stands for all object types. */
    const aliasesByType = new Map<string, Set<string>>();

    visitFields(selectionSets, '', {
      findFragment: (name) => context.getFragment(name) ?? undefined,
      // Aliases in a fragment on an interface count for all object types, even if a fragment on one
      // object type spreads it: each fragment is visited only once, so its spreads in other types
      // would not be counted.
      narrowToTypeCondition: (_type, { name }) =>
        isObjectType(context.getSchema().getType(name.value)) ? name.value : '',
      // Counts the visit of each selection, and skips the rest once the limit is exceeded.
      isSkipped(selection) {
        if (selection.kind === Kind.FRAGMENT_SPREAD) spreadFragmentNames.add(selection.name.value);

        return steps.countVisit(selection);
      },
      visitField(field, type) {
        const responseName = (field.alias ?? field.name).value;

        addToList(fieldsByResponseName, responseName, field);

        if (field.alias) {
          aliasesByType.set(type, (aliasesByType.get(type) ?? new Set()).add(responseName));
        }
      },
    });
    for (const name of spreadFragmentNames) this.fragmentNames.add(name);
    steps.countFragmentComparisons([...spreadFragmentNames]);
    for (const fields of fieldsByResponseName.values()) steps.countComparisons(fields);
    const aliasCountOf = (type: string) => aliasesByType.get(type)?.size ?? 0;
    const objectTypes = [...aliasesByType.keys()].filter((type) => type !== '');

    return {
      fieldsByResponseName,
      aliasCount: aliasCountOf('') + Math.max(0, ...objectTypes.map(aliasCountOf)),
    };
  }
}

/**
 * Estimates the steps of validation. Rules follow the fragments of each operation. They compare
 * every two fields with the same response path, and every two fragments that are spread at the same
 * path.
 */
class ValidationStepCounter {
  private count = 0;
  private readonly valueCounts = new Map<SelectionNode, number>();
  private readonly comparedFragments = new Set<string>();

  get areExceeded(): boolean {
    return this.count > MAX_VALIDATION_STEPS;
  }

  /** Counts a visit of a selection and tells whether the limit is exceeded. */
  countVisit(selection: SelectionNode): boolean {
    this.count += STEPS_PER_VISIT + this.valueCountOf(selection);
    return this.areExceeded;
  }

  countComparisons(fields: readonly FieldNode[]): void {
    if (fields.length > 1) {
      for (const field of fields) {
        this.count += (fields.length - 1) * (stepsPerComparison(field) + this.valueCountOf(field));
      }
    }
  }

  countFragmentComparisons(names: readonly string[]): void {
    names.forEach((name, index) => {
      for (const other of names.slice(index + 1)) {
        if (this.areExceeded) return;
        const pair = name < other ? `${name} ${other}` : `${other} ${name}`;

        this.count += this.comparedFragments.has(pair) ? 1 : STEPS_PER_FRAGMENT_COMPARISON;
        this.comparedFragments.add(pair);
      }
    });
  }

  /** Number of values in the arguments of a selection and of its directives. */
  private valueCountOf(selection: SelectionNode): number {
    const { directives = [] } = selection;
    const ownArguments = selection.kind === Kind.FIELD ? (selection.arguments ?? []) : [];

    if (!directives.length && !ownArguments.length) return 0;
    let count = this.valueCounts.get(selection);

    if (count === undefined) {
      count = sum(
        [...ownArguments, ...directives.flatMap((directive) => directive.arguments ?? [])].map(
          ({ value }) => countValues(value),
        ),
      );
      this.valueCounts.set(selection, count);
    }

    return count;
  }
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

const countValues = (value: ValueNode): number => {
  if (value.kind === Kind.LIST) return 1 + sum(value.values.map(countValues));

  if (value.kind === Kind.OBJECT) {
    return 1 + sum(value.fields.map((field) => countValues(field.value)));
  }

  return 1;
};

/**
 * Half of the steps of comparing a field with another one, because each of the two counts its half.
 * Leaf fields without alias are compared fast.
 */
const stepsPerComparison = ({ selectionSet, alias }: FieldNode): number =>
  selectionSet || alias ? 7 : 2;

const validationStepsError = (node: ASTNode) =>
  createLimitError(
    `Validation would take more than ${MAX_VALIDATION_STEPS} steps. Select each field once, and spread fewer fragments.`,
    MAX_VALIDATION_STEPS,
    node,
  );

function rootFieldsError(
  { operation, selectionSet }: OperationDefinitionNode,
  context: ValidationContext,
): GraphQLError | undefined {
  const definitions = context.getSchema().getRootType(operation)?.getFields() ?? {};
  const fields: FieldNode[] = [];

  visitFields([selectionSet], undefined, {
    findFragment: (name) => context.getFragment(name) ?? undefined,
    narrowToTypeCondition: () => undefined,
    visitField: (field) => fields.push(field),
  });
  // `__schema` and fields with the extension `oncePerOperation` may not be repeated. Otherwise,
  // aliases of `login` could test many passwords.
  const names = fields.map(({ name }) => name.value);
  const repeatedName = names.find(
    (name, index) =>
      (name === SchemaMetaFieldDef.name || definitions[name]?.extensions.oncePerOperation) &&
      names.indexOf(name) !== index,
  );

  if (repeatedName !== undefined) {
    return createLimitError(
      `\`${repeatedName}\` is allowed only once in an operation.`,
      1,
      selectionSet,
    );
  }

  if (fields.length > MAX_ROOT_FIELDS) {
    return createLimitError(
      `An operation can have at most ${MAX_ROOT_FIELDS} root fields.`,
      MAX_ROOT_FIELDS,
      selectionSet,
    );
  }

  return undefined;
}

function nodeLimitError(node: ASTNode): GraphQLError | undefined {
  const directiveCount = ('directives' in node && node.directives?.length) || 0;

  if (directiveCount > MAX_DIRECTIVES_PER_LOCATION) {
    return createLimitError(
      `At most ${MAX_DIRECTIVES_PER_LOCATION} directives are allowed at one location.`,
      MAX_DIRECTIVES_PER_LOCATION,
      node,
    );
  }

  if (node.kind === Kind.SELECTION_SET && node.selections.length > MAX_SELECTIONS_PER_SET) {
    return createLimitError(
      `A selection set can have at most ${MAX_SELECTIONS_PER_SET} selections.`,
      MAX_SELECTIONS_PER_SET,
      node,
    );
  }

  const alias = node.kind === Kind.FIELD ? node.alias : undefined;

  if (alias && alias.value.length > MAX_ALIAS_CHARACTERS) {
    return createLimitError(
      `An alias can have at most ${MAX_ALIAS_CHARACTERS} characters.`,
      MAX_ALIAS_CHARACTERS,
      alias,
    );
  }

  return undefined;
}

/** Child nodes that have limits of their own. */
const VISITED_KEYS: Partial<ASTVisitorKeyMap> = {
  Document: ['definitions'],
  OperationDefinition: ['variableDefinitions', 'selectionSet'],
  FragmentDefinition: ['selectionSet'],
  SelectionSet: ['selections'],
  Field: ['selectionSet'],
  InlineFragment: ['selectionSet'],
};

function findLimitError(
  document: DocumentNode,
  context: ValidationContext,
): GraphQLError | undefined {
  let aliasCount = 0;
  let violation: GraphQLError | undefined;

  visit(
    document,
    {
      enter(node) {
        if (node.kind === Kind.FIELD && node.alias) aliasCount += 1;
        violation = nodeLimitError(node);

        if (aliasCount > MAX_ALIASES_PER_DOCUMENT) {
          violation = createLimitError(
            `A document can have at most ${MAX_ALIASES_PER_DOCUMENT} aliases.`,
            MAX_ALIASES_PER_DOCUMENT,
            document,
          );
        }

        return violation && BREAK;
      },
    },
    VISITED_KEYS as ASTVisitorKeyMap,
  );
  const walk = new ResponsePathWalk(context, new ValidationStepCounter());

  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      violation ??=
        rootFieldsError(definition, context) ?? walk.findError([definition.selectionSet]);
    }
  }

  // Unused fragments are an error, but validation still compares their fields.
  for (const definition of document.definitions) {
    if (
      definition.kind === Kind.FRAGMENT_DEFINITION &&
      !walk.fragmentNames.has(definition.name.value)
    ) {
      violation ??= walk.findError([definition.selectionSet]);
    }
  }

  return violation;
}

/**
 * Validation rule for all limits. If a document exceeds a limit, the rule returns null, so that the
 * other rules skip the contents of the document.
 */
export const documentLimitsRule: ValidationRule = (context): ASTVisitor => ({
  Document(document) {
    const violation = findLimitError(document, context);

    if (!violation) return undefined;
    context.reportError(violation);
    return null;
  },
});
