/** Validation rule that limits the size of GraphQL documents. Each fragment is visited once, however often it is spread. */
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
  type DocumentNode,
  type FieldNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { visitFields } from '../core/model/selections';

export const MAX_TOKENS = 10_000;
const MAX_FIELD_DEPTH = 20;
const MAX_ROOT_FIELDS = 100;
/** Maximum number of selections in a selection set: more than twice the number of fields of any type. */
const MAX_SELECTIONS_PER_SET = 500;
const MAX_ALIASES_PER_DOCUMENT = 500;
/** Maximum number of aliases in a selection set. It is low, because responses repeat aliases for each row. */
const MAX_ALIASES_PER_SELECTION_SET = 50;
const MAX_ALIAS_CHARACTERS = 64;
const MAX_DIRECTIVES_PER_LOCATION = 5;
/** Maximum depth of nested brackets. Parsers and visitors are recursive, so deeper documents could overflow the stack. */
const MAX_BRACKET_DEPTH = 200;

/** Limits of GraphQL documents with their descriptions, from which `npm run docs` generates the table in docs/graphql.md. */
export const DOCUMENT_LIMITS: readonly (readonly [maximum: number, meaning: string])[] = [
  [MAX_TOKENS, 'tokens'],
  [MAX_FIELD_DEPTH, 'levels of nested fields'],
  [MAX_BRACKET_DEPTH, 'levels of nested brackets'],
  [MAX_ROOT_FIELDS, 'root fields of an operation, including those of its fragments'],
  [MAX_SELECTIONS_PER_SET, 'direct selections of one selection set, not counting the contents of fragments'],
  [MAX_ALIASES_PER_DOCUMENT, 'aliases'],
  [MAX_ALIASES_PER_SELECTION_SET, "aliases of a field's selection set, including fragments"],
  [MAX_ALIAS_CHARACTERS, 'characters of an alias'],
  [MAX_DIRECTIVES_PER_LOCATION, 'directives per location'],
  [1, '`__schema`, and each field that issues credentials, such as `login`'],
];

const OPENING_BRACKETS = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING_BRACKETS = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Returns an error if brackets are nested too deeply. Uses the lexer alone, because it runs before the recursive parser. */
export function bracketDepthError(text: string): GraphQLError | undefined {
  let bracketCount = 0;
  for (let index = 0; index < text.length && bracketCount <= MAX_BRACKET_DEPTH; index += 1)
    if (OPENING_BRACKETS.has(text[index]!)) bracketCount += 1;
  if (bracketCount <= MAX_BRACKET_DEPTH) return undefined;
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  try {
    for (let tokenCount = 0; tokenCount < MAX_TOKENS; tokenCount += 1) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) return undefined;
      if (CLOSING_BRACKETS.has(kind)) depth -= 1;
      else if (OPENING_BRACKETS.has(kind) && (depth += 1) > MAX_BRACKET_DEPTH)
        return new GraphQLError(`Brackets are nested deeper than ${MAX_BRACKET_DEPTH} levels.`, {
          extensions: { code: 'GRAPHQL_PARSE_FAILED', limit: MAX_BRACKET_DEPTH },
        });
    }
  } catch {
    // A lexical error is ignored here, because the parser will report it.
  }
  return undefined;
}

/** Creates the error for an exceeded limit. `extensions.limit` distinguishes it from other validation errors. */
const createLimitError = (message: string, limit: number, node: ASTNode) =>
  new GraphQLError(message, { nodes: [node], extensions: { limit } });

/** Combines the values of all fields in a selection set and in its fragments. Evaluates each fragment only once. */
function foldFields(
  selectionSet: SelectionSetNode | undefined,
  context: ValidationContext,
  fieldValue: (field: FieldNode) => number,
  combine: (a: number, b: number) => number,
  resultByFragment = new Map<string, number>(),
): number {
  return (selectionSet?.selections ?? []).reduce((total, selection) => {
    if (selection.kind === Kind.FIELD) return combine(total, fieldValue(selection));
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return combine(total, foldFields(selection.selectionSet, context, fieldValue, combine, resultByFragment));
    const name = selection.name.value;
    if (!resultByFragment.has(name)) {
      // A preliminary result ends the recursion for a fragment that spreads itself. Another validation rule rejects such cycles.
      resultByFragment.set(name, 0);
      resultByFragment.set(name, foldFields(context.getFragment(name)?.selectionSet, context, fieldValue, combine, resultByFragment));
    }
    return combine(total, resultByFragment.get(name)!);
  }, 0);
}

const sumFields = (selectionSet: SelectionSetNode, context: ValidationContext, weightOf: (field: FieldNode) => number): number =>
  foldFields(selectionSet, context, weightOf, (a, b) => a + b);

/**
 * Returns the maximum number of aliases in one result object: the aliases without a type condition or with one on an interface, plus those of the
 * object type that has the most aliases.
 */
function countAliases(selectionSet: SelectionSetNode, context: ValidationContext): number {
  const aliasesByType = new Map<string, Set<string>>();
  visitFields([selectionSet], '', {
    findFragment: (name) => context.getFragment(name) ?? undefined,
    // Aliases in a fragment on an interface count for all object types, even if a fragment on one object type spreads it: each fragment is visited only
    // once, so its spreads in other types would not be counted.
    narrowToTypeCondition: (_type, { name }) => (isObjectType(context.getSchema().getType(name.value)) ? name.value : ''),
    visitField({ alias }, type) {
      if (alias) aliasesByType.set(type, (aliasesByType.get(type) ?? new Set()).add(alias.value));
    },
  });
  const { '': unconditionalCount = 0, ...countByType } = Object.fromEntries(
    [...aliasesByType].map(([type, aliases]) => [type, aliases.size]),
  );
  return unconditionalCount + Math.max(0, ...Object.values(countByType));
}

function selectionDepth(
  selectionSet: SelectionSetNode | undefined,
  context: ValidationContext,
  resultByFragment: Map<string, number>,
): number {
  return foldFields(
    selectionSet,
    context,
    ({ selectionSet }) => 1 + selectionDepth(selectionSet, context, resultByFragment),
    Math.max,
    resultByFragment,
  );
}

function* operationErrors(
  operation: OperationDefinitionNode,
  context: ValidationContext,
  depthByFragment: Map<string, number>,
): Generator<GraphQLError> {
  const { selectionSet } = operation;
  // Fields that are allowed only once: `__schema`, and those with the extension `oncePerOperation`. Otherwise, aliases of `login` could test many passwords.
  const fields = context.getSchema().getRootType(operation.operation)?.getFields() ?? {};
  for (const { name, extensions } of [...Object.values(fields), SchemaMetaFieldDef])
    if (
      (extensions.oncePerOperation || name === SchemaMetaFieldDef.name) &&
      sumFields(selectionSet, context, (field) => (field.name.value === name ? 1 : 0)) > 1
    )
      yield createLimitError(`\`${name}\` is allowed only once in an operation.`, 1, operation);
  if (selectionDepth(selectionSet, context, depthByFragment) > MAX_FIELD_DEPTH)
    yield createLimitError(`Fields are nested deeper than ${MAX_FIELD_DEPTH} levels.`, MAX_FIELD_DEPTH, operation);
  if (sumFields(selectionSet, context, () => 1) > MAX_ROOT_FIELDS)
    yield createLimitError(`An operation can have at most ${MAX_ROOT_FIELDS} root fields.`, MAX_ROOT_FIELDS, operation);
}

function nodeError(node: ASTNode, context: ValidationContext): GraphQLError | undefined {
  const directiveCount = ('directives' in node && node.directives?.length) || 0;
  if (directiveCount > MAX_DIRECTIVES_PER_LOCATION)
    return createLimitError(
      `At most ${MAX_DIRECTIVES_PER_LOCATION} directives are allowed at one location.`,
      MAX_DIRECTIVES_PER_LOCATION,
      node,
    );
  if (node.kind === Kind.SELECTION_SET && node.selections.length > MAX_SELECTIONS_PER_SET)
    return createLimitError(`A selection set can have at most ${MAX_SELECTIONS_PER_SET} selections.`, MAX_SELECTIONS_PER_SET, node);
  if (node.kind !== Kind.FIELD) return undefined;
  const { selectionSet, alias } = node;
  if (selectionSet && countAliases(selectionSet, context) > MAX_ALIASES_PER_SELECTION_SET)
    return createLimitError(
      `A selection set can have at most ${MAX_ALIASES_PER_SELECTION_SET} aliases.`,
      MAX_ALIASES_PER_SELECTION_SET,
      selectionSet,
    );
  if (alias && alias.value.length > MAX_ALIAS_CHARACTERS)
    return createLimitError(`An alias can have at most ${MAX_ALIAS_CHARACTERS} characters.`, MAX_ALIAS_CHARACTERS, alias);
  return undefined;
}

function findLimitError(document: DocumentNode, context: ValidationContext): GraphQLError | undefined {
  const depthByFragment = new Map<string, number>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      for (const error of operationErrors(definition, context, depthByFragment)) return error;
  let aliasCount = 0;
  let violation: GraphQLError | undefined;
  visit(document, {
    enter(node) {
      if (node.kind === Kind.FIELD && node.alias) aliasCount += 1;
      violation =
        aliasCount > MAX_ALIASES_PER_DOCUMENT
          ? createLimitError(`A document can have at most ${MAX_ALIASES_PER_DOCUMENT} aliases.`, MAX_ALIASES_PER_DOCUMENT, document)
          : nodeError(node, context);
      return violation && BREAK;
    },
  });
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
