/** What a document may hold at most, told before anything of it runs. No walk looks at a fragment twice, however often it is spread. */
import {
  BREAK,
  GraphQLError,
  Kind,
  Lexer,
  SchemaMetaFieldDef,
  Source,
  TokenKind,
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

export const MAX_TOKENS = 10_000;
const MAX_DEPTH = 20;
/** Of an operation, fragments included. */
const MAX_ROOT_FIELDS = 100;
/** Of a selection set, without what its fragments have; no type has half as many. */
const MAX_SELECTIONS = 500;
const MAX_ALIASES = 500;
/** Of a selection below the operation's own, with its fragments: aliases come back with each row. */
const MAX_ALIASES_OF_ROW = 50;
const MAX_ALIAS_CHARACTERS = 64;
/** At one place. */
const MAX_DIRECTIVES = 5;

/** Brackets in brackets of a text. Whoever reads or walks a document calls itself for each. */
const MAX_NESTING = 200;

const OPENING = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Told before the text is parsed, by its tokens, which are one after the other. */
export function nestedTooDeep(text: string): GraphQLError | undefined {
  let brackets = 0;
  for (let index = 0; index < text.length && brackets <= MAX_NESTING; index += 1) if (OPENING.has(text[index]!)) brackets += 1;
  if (brackets <= MAX_NESTING) return undefined;
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  try {
    for (let tokens = 0; tokens < MAX_TOKENS; tokens += 1) {
      const { kind } = lexer.advance();
      if (kind === TokenKind.EOF) return undefined;
      if (CLOSING.has(kind)) depth -= 1;
      else if (OPENING.has(kind) && (depth += 1) > MAX_NESTING)
        return new GraphQLError(`Brackets are nested deeper than ${MAX_NESTING} levels.`, {
          extensions: { code: 'GRAPHQL_PARSE_FAILED', limit: MAX_NESTING },
        });
    }
  } catch {
    // What no token begins with is told by the parser, which meets it at the same place.
  }
  return undefined;
}

/** With `limit`, by which it is known from what else is wrong with a document. */
const exceeded = (message: string, limit: number, node: ASTNode) => new GraphQLError(message, { nodes: [node], extensions: { limit } });

/** A sum or a maximum over the fields that a selection set has with its fragments. */
function gathered(
  set: SelectionSetNode | undefined,
  context: ValidationContext,
  ofField: (field: FieldNode) => number,
  join: (one: number, other: number) => number,
  known = new Map<string, number>(),
): number {
  return (set?.selections ?? []).reduce((total, selection) => {
    if (selection.kind === Kind.FIELD) return join(total, ofField(selection));
    if (selection.kind === Kind.INLINE_FRAGMENT) return join(total, gathered(selection.selectionSet, context, ofField, join, known));
    const name = selection.name.value;
    if (!known.has(name)) {
      // A fragment that spreads itself is refused elsewhere, and must not be followed here.
      known.set(name, 0);
      known.set(name, gathered(context.getFragment(name)?.selectionSet, context, ofField, join, known));
    }
    return join(total, known.get(name)!);
  }, 0);
}

const counted = (set: SelectionSetNode, context: ValidationContext, weightOf: (field: FieldNode) => number): number =>
  gathered(set, context, weightOf, (one, other) => one + other);

/** How many aliases one object may show of a selection set with its fragments: those for all types, and those for one type at a time. */
function aliasesOf(set: SelectionSetNode, context: ValidationContext): number {
  const byType = new Map<string, Set<string>>();
  const spread = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, type: string): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (selection.alias) byType.set(type, (byType.get(type) ?? new Set()).add(selection.alias.value));
        continue;
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, selection.typeCondition?.name.value ?? type);
        continue;
      }
      const fragment = spread.has(selection.name.value) ? undefined : context.getFragment(selection.name.value);
      spread.add(selection.name.value);
      if (fragment) walk(fragment.selectionSet, fragment.typeCondition.name.value);
    }
  };
  walk(set, '');
  const { '': ofAll = 0, ...ofTypes } = Object.fromEntries([...byType].map(([type, aliases]) => [type, aliases.size]));
  return ofAll + Math.max(0, ...Object.values(ofTypes));
}

/** Levels of fields below a selection set. */
function height(set: SelectionSetNode | undefined, context: ValidationContext, known: Map<string, number>): number {
  return gathered(set, context, ({ selectionSet }) => 1 + height(selectionSet, context, known), Math.max, known);
}

function* ofOperation(
  operation: OperationDefinitionNode,
  context: ValidationContext,
  heights: Map<string, number>,
): Generator<GraphQLError> {
  const { selectionSet } = operation;
  // Fields with the fact `once`, such as `login`, which aliases would make a list of guesses, and the whole schema.
  const fields = context.getSchema().getRootType(operation.operation)?.getFields() ?? {};
  for (const { name, extensions } of [...Object.values(fields), SchemaMetaFieldDef])
    if (
      (extensions.once || name === SchemaMetaFieldDef.name) &&
      counted(selectionSet, context, (field) => (field.name.value === name ? 1 : 0)) > 1
    )
      yield exceeded(`\`${name}\` may stand once in an operation.`, 1, operation);
  if (height(selectionSet, context, heights) > MAX_DEPTH)
    yield exceeded(`Fields are nested deeper than ${MAX_DEPTH} levels.`, MAX_DEPTH, operation);
  if (counted(selectionSet, context, () => 1) > MAX_ROOT_FIELDS)
    yield exceeded(`An operation may have ${MAX_ROOT_FIELDS} fields of its own, and has more.`, MAX_ROOT_FIELDS, operation);
}

function ofNode(node: ASTNode, context: ValidationContext): GraphQLError | undefined {
  const directives = ('directives' in node && node.directives?.length) || 0;
  if (directives > MAX_DIRECTIVES)
    return exceeded(`There may be ${MAX_DIRECTIVES} directives at one place, and there are more.`, MAX_DIRECTIVES, node);
  if (node.kind === Kind.SELECTION_SET && node.selections.length > MAX_SELECTIONS)
    return exceeded(`A selection may have ${MAX_SELECTIONS} parts, and has more.`, MAX_SELECTIONS, node);
  if (node.kind !== Kind.FIELD) return undefined;
  const { selectionSet, alias } = node;
  if (selectionSet && aliasesOf(selectionSet, context) > MAX_ALIASES_OF_ROW)
    return exceeded(`A selection may have ${MAX_ALIASES_OF_ROW} aliases, and has more.`, MAX_ALIASES_OF_ROW, selectionSet);
  if (alias && alias.value.length > MAX_ALIAS_CHARACTERS)
    return exceeded(`An alias may have ${MAX_ALIAS_CHARACTERS} characters, and has more.`, MAX_ALIAS_CHARACTERS, alias);
  return undefined;
}

function excessOf(document: DocumentNode, context: ValidationContext): GraphQLError | undefined {
  const heights = new Map<string, number>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) for (const error of ofOperation(definition, context, heights)) return error;
  let aliases = 0;
  let excess: GraphQLError | undefined;
  visit(document, {
    enter(node) {
      if (node.kind === Kind.FIELD && node.alias) aliases += 1;
      excess =
        aliases > MAX_ALIASES
          ? exceeded(`There may be ${MAX_ALIASES} aliases, and there are more.`, MAX_ALIASES, document)
          : ofNode(node, context);
      return excess && BREAK;
    },
  });
  return excess;
}

/** The document of one that exceeds a limit counts as deleted, so that no rule looks at what is in it. */
export const bounds: ValidationRule = (context): ASTVisitor => ({
  Document(document) {
    const excess = excessOf(document, context);
    if (!excess) return undefined;
    context.reportError(excess);
    return null;
  },
});
