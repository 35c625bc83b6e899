/** Validation rule that limits the size of GraphQL documents and the time of validating them. */
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
} from 'graphql';
import { visitFields } from '../core/model/selections';

export const MAX_TOKENS = 5_000;
/** Maximum number of lines. To locate an error, graphql-js counts the lines before it. */
const MAX_LINES = 5_000;
const MAX_FIELD_DEPTH = 20;
const MAX_ROOT_FIELDS = 100;
/** Maximum number of selections in a selection set: more than twice the number of fields of any type. */
const MAX_SELECTIONS_PER_SET = 500;
const MAX_ALIASES_PER_DOCUMENT = 500;
/** Maximum number of aliases in a selection set. It is low, because responses repeat aliases for each row. */
const MAX_ALIASES_PER_SELECTION_SET = 50;
const MAX_ALIAS_CHARACTERS = 64;
const MAX_DIRECTIVES_PER_LOCATION = 5;
/** Maximum number of estimated validation steps. Together with the number of tokens, it limits validation to about 20 ms. */
const MAX_VALIDATION_STEPS = 200_000;
const STEPS_PER_VISIT = 4;
const STEPS_PER_FRAGMENT_COMPARISON = 10;
/** Maximum depth of nested brackets. Parsers and visitors are recursive, so deeper documents could overflow the stack. */
const MAX_BRACKET_DEPTH = 200;

/** Limits of GraphQL documents with their descriptions, from which `npm run docs` generates the table in docs/graphql.md. */
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

/** Returns an error if a document has too many lines, or brackets that are nested too deeply. Uses the lexer alone, because it runs before the recursive parser. */
export function documentTextError(text: string): GraphQLError | undefined {
  if (text.split(/\r\n|[\n\r]/, MAX_LINES + 1).length > MAX_LINES)
    return textLimitError(`The document has more than ${MAX_LINES} lines.`, MAX_LINES);
  if ((text.match(/[[{(]/g)?.length ?? 0) <= MAX_BRACKET_DEPTH) return undefined;
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  try {
    for (let tokenCount = 0; tokenCount < MAX_TOKENS; tokenCount += 1) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) return undefined;
      if (CLOSING_BRACKETS.has(kind)) depth -= 1;
      else if (OPENING_BRACKETS.has(kind) && (depth += 1) > MAX_BRACKET_DEPTH)
        return textLimitError(
          `Brackets are nested deeper than ${MAX_BRACKET_DEPTH} levels.`,
          MAX_BRACKET_DEPTH,
        );
    }
  } catch {
    // A lexical error is ignored here, because the parser will report it.
  }
  return undefined;
}

/** Creates the error for an exceeded limit. `extensions.limit` distinguishes it from other validation errors. */
const createLimitError = (message: string, limit: number, node: ASTNode) =>
  new GraphQLError(message, { nodes: [node], extensions: { limit } });

/** What the limits of an operation or fragment refer to: its selections and those of its fragments, at each response path. */
class PathWalk {
  /** Names of the fragments that the walked operations spread. */
  readonly fragmentNames = new Set<string>();

  constructor(
    private readonly context: ValidationContext,
    private readonly steps: ValidationSteps,
  ) {}

  /** Returns an error if a limit is exceeded by the fields of selection sets that share a response path, or by those below them. */
  findError(selectionSets: readonly SelectionSetNode[], depth = 1): GraphQLError | undefined {
    const [node] = selectionSets;
    if (depth > MAX_FIELD_DEPTH)
      return createLimitError(
        `Fields are nested deeper than ${MAX_FIELD_DEPTH} levels.`,
        MAX_FIELD_DEPTH,
        node!,
      );
    const { fieldsByResponseName, aliasCount } = this.collect(selectionSets);
    if (this.steps.areExceeded) return validationStepsError(node!);
    if (depth > 1 && aliasCount > MAX_ALIASES_PER_SELECTION_SET)
      return createLimitError(
        `A selection set can have at most ${MAX_ALIASES_PER_SELECTION_SET} aliases.`,
        MAX_ALIASES_PER_SELECTION_SET,
        node!,
      );
    for (const fields of fieldsByResponseName.values()) {
      const children = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
      const error = children.length ? this.findError(children, depth + 1) : undefined;
      if (error) return error;
    }
    return undefined;
  }

  /** Returns the fields by response name and the maximum number of aliases in one result object, and counts the steps of comparing these fields. */
  private collect(selectionSets: readonly SelectionSetNode[]): {
    fieldsByResponseName: Map<string, FieldNode[]>;
    aliasCount: number;
  } {
    const { context, steps } = this;
    const fieldsByResponseName = new Map<string, FieldNode[]>();
    const spreadNames = new Set<string>();
    const aliasesByType = new Map<string, Set<string>>();
    visitFields(selectionSets, '', {
      findFragment: (name) => context.getFragment(name) ?? undefined,
      // Aliases in a fragment on an interface count for all object types, even if a fragment on one object type spreads it: each fragment is visited only
      // once, so its spreads in other types would not be counted.
      narrowToTypeCondition: (_type, { name }) =>
        isObjectType(context.getSchema().getType(name.value)) ? name.value : '',
      isSkipped(selection) {
        if (selection.kind === Kind.FRAGMENT_SPREAD) spreadNames.add(selection.name.value);
        return steps.countVisit(selection);
      },
      visitField(field, type) {
        const responseName = (field.alias ?? field.name).value;
        const fields = fieldsByResponseName.get(responseName);
        if (fields) fields.push(field);
        else fieldsByResponseName.set(responseName, [field]);
        if (field.alias)
          aliasesByType.set(type, (aliasesByType.get(type) ?? new Set()).add(responseName));
      },
    });
    for (const name of spreadNames) this.fragmentNames.add(name);
    steps.countFragmentComparisons([...spreadNames]);
    for (const fields of fieldsByResponseName.values()) steps.countComparisons(fields);
    const sizeOf = (type: string) => aliasesByType.get(type)?.size ?? 0;
    const objectTypes = [...aliasesByType.keys()].filter((type) => type !== '');
    return {
      fieldsByResponseName,
      aliasCount: sizeOf('') + Math.max(0, ...objectTypes.map(sizeOf)),
    };
  }
}

/**
 * Counts the steps that validation would take. Rules follow the fragments of each operation, and compare every two fields with the same response path, with
 * their arguments, and once every two fragments that are spread at the same path.
 */
class ValidationSteps {
  private count = 0;
  private readonly valueCounts = new Map<SelectionNode, number>();
  private readonly comparedFragments = new Set<string>();

  get areExceeded(): boolean {
    return this.count > MAX_VALIDATION_STEPS;
  }

  /** Counts a visit of a selection. Returns whether the limit is exceeded. */
  countVisit(selection: SelectionNode): boolean {
    this.count += STEPS_PER_VISIT + this.valueCountOf(selection);
    return this.areExceeded;
  }

  countComparisons(fields: readonly FieldNode[]): void {
    if (fields.length > 1)
      for (const field of fields)
        this.count += (fields.length - 1) * (stepsPerComparison(field) + this.valueCountOf(field));
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
  return value.kind === Kind.OBJECT
    ? 1 + sum(value.fields.map((field) => countValues(field.value)))
    : 1;
};

/** Steps of comparing two fields, divided equally between them. Leaves with the same name are compared fast. */
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
  // Fields that are allowed only once: `__schema`, and those with the extension `oncePerOperation`. Otherwise, aliases of `login` could test many passwords.
  const names = fields.map(({ name }) => name.value);
  const repeatedName = names.find(
    (name, index) =>
      (name === SchemaMetaFieldDef.name || definitions[name]?.extensions.oncePerOperation) &&
      names.indexOf(name) !== index,
  );
  if (repeatedName !== undefined)
    return createLimitError(
      `\`${repeatedName}\` is allowed only once in an operation.`,
      1,
      selectionSet,
    );
  return fields.length > MAX_ROOT_FIELDS
    ? createLimitError(
        `An operation can have at most ${MAX_ROOT_FIELDS} root fields.`,
        MAX_ROOT_FIELDS,
        selectionSet,
      )
    : undefined;
}

function nodeError(node: ASTNode): GraphQLError | undefined {
  const directiveCount = ('directives' in node && node.directives?.length) || 0;
  if (directiveCount > MAX_DIRECTIVES_PER_LOCATION)
    return createLimitError(
      `At most ${MAX_DIRECTIVES_PER_LOCATION} directives are allowed at one location.`,
      MAX_DIRECTIVES_PER_LOCATION,
      node,
    );
  if (node.kind === Kind.SELECTION_SET && node.selections.length > MAX_SELECTIONS_PER_SET)
    return createLimitError(
      `A selection set can have at most ${MAX_SELECTIONS_PER_SET} selections.`,
      MAX_SELECTIONS_PER_SET,
      node,
    );
  const alias = node.kind === Kind.FIELD ? node.alias : undefined;
  if (alias && alias.value.length > MAX_ALIAS_CHARACTERS)
    return createLimitError(
      `An alias can have at most ${MAX_ALIAS_CHARACTERS} characters.`,
      MAX_ALIAS_CHARACTERS,
      alias,
    );
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
        violation =
          aliasCount > MAX_ALIASES_PER_DOCUMENT
            ? createLimitError(
                `A document can have at most ${MAX_ALIASES_PER_DOCUMENT} aliases.`,
                MAX_ALIASES_PER_DOCUMENT,
                document,
              )
            : nodeError(node);
        return violation && BREAK;
      },
    },
    VISITED_KEYS as ASTVisitorKeyMap,
  );
  const walk = new PathWalk(context, new ValidationSteps());
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      violation ??=
        rootFieldsError(definition, context) ?? walk.findError([definition.selectionSet]);
  // Fragments that no operation spreads are an error, but are compared like the others.
  for (const definition of document.definitions)
    if (
      definition.kind === Kind.FRAGMENT_DEFINITION &&
      !walk.fragmentNames.has(definition.name.value)
    )
      violation ??= walk.findError([definition.selectionSet]);
  return violation;
}

/** Validation rule for all limits. Returning null removes an oversized document from the walk, so that other rules skip its contents. */
export const documentLimitsRule: ValidationRule = (context): ASTVisitor => ({
  Document(document) {
    const violation = findLimitError(document, context);
    if (!violation) return undefined;
    context.reportError(violation);
    return null;
  },
});
