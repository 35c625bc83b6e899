/**
 * Draws mutants: small changes of expressions in src, the same ones for the same seed and sources.
 */
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const require = createRequire(import.meta.url);
const ts = require('typescript');
const esbuild = require('esbuild');

/** Returns a Mulberry32 generator of numbers in [0, 1). */
function generator(seed) {
  let state = seed >>> 0;

  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;

    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, next) {
  const copy = [...list];

  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1));

    [copy[i], copy[j]] = [copy[j], copy[i]];
  }

  return copy;
}

/**
 * Whether a file may be mutated. Applied migrations never change, and Jest does not run browser
 * code.
 */
const isMutable = (file) =>
  file.startsWith('src/') &&
  file.endsWith('.ts') &&
  !file.endsWith('.d.ts') &&
  !file.includes('/migrations/') &&
  !file.includes('/browser/');

const folderOf = (file) => (file.split('/').length > 2 ? file.split('/')[1] : '(top)');

const { SyntaxKind } = ts;
const OPERATORS = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, ['equality', '!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['equality', '===']],
  [SyntaxKind.EqualsEqualsToken, ['equality', '!=']],
  [SyntaxKind.ExclamationEqualsToken, ['equality', '==']],
  [SyntaxKind.LessThanToken, ['comparison', '<=']],
  [SyntaxKind.LessThanEqualsToken, ['comparison', '<']],
  [SyntaxKind.GreaterThanToken, ['comparison', '>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['comparison', '>']],
  [SyntaxKind.AmpersandAmpersandToken, ['logic', '||']],
  [SyntaxKind.BarBarToken, ['logic', '&&']],
  [SyntaxKind.PlusToken, ['arithmetic', '-']],
  [SyntaxKind.MinusToken, ['arithmetic', '+']],
]);

const isText = (node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const containsAwait = (node) =>
  ts.isAwaitExpression(node) ||
  (!ts.isFunctionLike(node) &&
    Boolean(ts.forEachChild(node, (child) => containsAwait(child) || undefined)));

/**
 * Whether a node is excluded: types, imports, ambient declarations and error messages have no
 * behaviour to change.
 */
function isIgnored(node, source) {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
    return true;
  }

  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (node.modifiers?.some(({ kind }) => kind === SyntaxKind.DeclareKeyword)) return true;

  return (
    node.parent &&
    ts.isNewExpression(node.parent) &&
    /Error$/.test(node.parent.expression.getText(source)) &&
    isText(node)
  );
}

/** Returns all mutants of a file in source order. */
function mutantsOf(source, checker, file) {
  const found = [];
  const textOf = (node) => source.text.slice(node.getStart(source), node.end);

  const add = (kind, node, after, form = 'expression') => {
    const start = node.getStart(source);
    const { line, character } = source.getLineAndCharacterOfPosition(start);

    found.push({
      file,
      line: line + 1,
      column: character + 1,
      kind,
      start,
      end: node.end,
      before: textOf(node),
      after,
      form,
    });
  };

  /** Whether the last argument of a call is optional. */
  const hasOptionalArgument = (call) => {
    const parameters = checker.getResolvedSignature(call)?.declaration?.parameters;
    const last = parameters?.[call.arguments.length - 1];

    return (
      Boolean(last && !last.dotDotDotToken && (last.initializer || last.questionToken)) &&
      last.getSourceFile().fileName.includes('/src/')
    );
  };

  const visit = (node) => {
    if (isIgnored(node, source)) return;

    if (ts.isBinaryExpression(node)) {
      const [kind, operator] = OPERATORS.get(node.operatorToken.kind) ?? [];

      if (kind && !(kind === 'arithmetic' && (isText(node.left) || isText(node.right)))) {
        add(kind, node, `(${textOf(node.left)} ${operator} ${textOf(node.right)})`);
      }

      if (node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) {
        add('nullish', node, `(${textOf(node.left)})`);
      }
    }

    if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) {
      add('condition', node.expression, `!(${textOf(node.expression)})`);
    }

    if ((ts.isConditionalExpression(node) || ts.isForStatement(node)) && node.condition) {
      add('condition', node.condition, `!(${textOf(node.condition)})`);
    }

    if (ts.isNumericLiteral(node) && node.parent.name !== node) {
      add('number', node, String(Number(node.text) + 1));
    }

    if (node.kind === SyntaxKind.TrueKeyword) add('boolean', node, 'false');
    if (node.kind === SyntaxKind.FalseKeyword) add('boolean', node, 'true');

    if (ts.isExpressionStatement(node)) {
      let call = node.expression;

      while (ts.isAwaitExpression(call) || ts.isVoidExpression(call)) call = call.expression;

      if (ts.isCallExpression(call) && call.expression.kind !== SyntaxKind.SuperKeyword) {
        add('call', node, ';', 'statement');
      }
    }

    if (
      ts.isReturnStatement(node) &&
      node.expression &&
      !containsAwait(node.expression) &&
      !/^(undefined|null)$/.test(textOf(node.expression))
    ) {
      add('return', node.expression, 'undefined');
    }

    if (ts.isSpreadAssignment(node)) add('spread', node.expression, '{}');
    if (ts.isParameter(node) && node.initializer) add('default', node.initializer, 'undefined');

    if (ts.isCallExpression(node) && node.arguments.length > 0 && hasOptionalArgument(node)) {
      add('argument', node.arguments.at(-1), 'undefined');
    }

    if (ts.isAwaitExpression(node)) add('await', node, `(${textOf(node.expression)})`);
    ts.forEachChild(node, visit);
  };

  visit(source);
  return found;
}

const applyMutant = (text, { start, end, after }) => text.slice(0, start) + after + text.slice(end);

function isParseable(text) {
  try {
    esbuild.transformSync(text, {
      loader: 'ts',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });

    return true;
  } catch {
    return false;
  }
}

/**
 * Distributes `count` over the folders in proportion to their lines; the largest remainders are
 * rounded up.
 */
function quotas(folders, count) {
  const lines = [...folders.values()].reduce((sum, folder) => sum + folder.lines, 0);
  const exact = [...folders].map(([name, folder]) => ({
    name,
    share: (count * folder.lines) / lines,
  }));
  const parts = new Map(exact.map(({ name, share }) => [name, Math.floor(share)]));
  let remaining = count - [...parts.values()].reduce((a, b) => a + b, 0);

  for (const { name } of exact.sort((a, b) => (b.share % 1) - (a.share % 1))) {
    if (remaining-- > 0) parts.set(name, parts.get(name) + 1);
  }

  return parts;
}

/**
 * Creates a compiler for the checkout whose files can be replaced, to check whether a mutant
 * compiles.
 */
function compiler(root) {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} },
  );
  const overlay = new Map();
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => true,
    getCompilationSettings: () => ({
      ...config.options,
      incremental: false,
      tsBuildInfoFile: undefined,
      noEmit: true,
    }),
    getScriptFileNames: () => config.fileNames.filter((name) => !name.includes('/test/')),
    getScriptVersion: (name) => String(overlay.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = overlay.get(name)?.text ?? ts.sys.readFile(name);

      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  let version = 0;

  return {
    program: service.getProgram(),

    /** Returns the first error of the file with this text, if there is one. */
    errorIn(file, text) {
      const name = join(root, file);

      overlay.set(name, { version: (version += 1), text });
      const [error] = service.getSemanticDiagnostics(name);

      overlay.set(name, { version: (version += 1), text: readFileSync(name, 'utf8') });
      return error && ts.flattenDiagnosticMessageText(error.messageText, ' ').split('\n')[0];
    },
  };
}

/**
 * Draws `count` mutants of the checkout at `root`: [{ id, folder, file, line, column, kind, start,
 * end, before, after, form, typeError? }]. The share of each folder of src is proportional to its
 * lines, and a line has at most one mutant.
 */
export function draw(root, seed, count) {
  const { program, errorIn } = compiler(root);
  const checker = program.getTypeChecker();
  const sources = program
    .getSourceFiles()
    .map((source) => [relative(root, source.fileName), source])
    .filter(([file]) => isMutable(file))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const folders = new Map();

  for (const [file, source] of sources) {
    const folder = folders.get(folderOf(file)) ?? { lines: 0, mutants: [] };

    folder.lines += source.getLineStarts().length - 1;
    folder.mutants.push(...mutantsOf(source, checker, file));
    folders.set(folderOf(file), folder);
  }

  const quota = quotas(folders, count);
  const next = generator(seed);
  const drawn = [];

  for (const [name, { mutants }] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const chosenMutants = [];

    for (const mutant of shuffled(mutants, next)) {
      if (chosenMutants.length >= quota.get(name)) break;

      if (chosenMutants.some(({ file, line }) => file === mutant.file && line === mutant.line)) {
        continue;
      }

      if (isParseable(applyMutant(readFileSync(join(root, mutant.file), 'utf8'), mutant))) {
        chosenMutants.push(mutant);
      }
    }

    drawn.push(...chosenMutants);
  }

  return shuffled(drawn, next).map((mutant, index) => {
    const typeError = errorIn(
      mutant.file,
      applyMutant(readFileSync(join(root, mutant.file), 'utf8'), mutant),
    );

    return {
      id: index + 1,
      folder: folderOf(mutant.file),
      ...mutant,
      ...(typeError && { typeError }),
    };
  });
}

/**
 * Finds the same mutants in a changed checkout at `root`: each at the occurrence of its text that
 * is nearest to its old place. Mutants whose text no longer exists are dropped.
 */
export function relocate(mutants, root) {
  return mutants.flatMap((mutant) => {
    const name = join(root, mutant.file);
    const text = existsSync(name) ? readFileSync(name, 'utf8') : '';
    const places = [];

    for (let at = text.indexOf(mutant.before); at >= 0; at = text.indexOf(mutant.before, at + 1)) {
      places.push(at);
    }

    const [start] = places.sort((a, b) => Math.abs(a - mutant.start) - Math.abs(b - mutant.start));

    if (start === undefined) return [];
    const lines = text.slice(0, start).split('\n');

    return [
      {
        ...mutant,
        start,
        end: start + mutant.before.length,
        line: lines.length,
        column: lines.at(-1).length + 1,
      },
    ];
  });
}
