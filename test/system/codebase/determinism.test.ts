/**
 * Tests are deterministic: random inputs come from test/setup/random.ts alone, never from the clock, no test is skipped, and none has a time limit
 * besides `testTimeout` of jest.config.js. The rules are checked on the syntax trees of all files below test/ and scripts/.
 */
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { random } from '../../setup/runs';

const ROOT = path.join(__dirname, '../../..');
const RANDOM = 'test/setup/random.ts';
/** Modules that read the environment variable SEED. */
const SEED_READERS = [RANDOM, 'scripts/siege/random.mjs'];

/** Runs the tests with seeds from the clock, and prints these. It is exempt from the rules. */
const EXPLORER = 'scripts/explore.mjs';

const files = ['test', 'scripts'].flatMap((folder) =>
  (fs.readdirSync(path.join(ROOT, folder), { recursive: true }) as string[])
    .filter((file) => /\.(?:[cm]?[jt]s|tsx)$/.test(file))
    .map((file) => path.posix.join(folder, file.split(path.sep).join('/')))
    .filter((file) => file !== EXPLORER),
);

const parse = (file: string, text: string) =>
  ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

const syntaxTrees = new Map<string, ts.SourceFile>();

function syntaxTreeOf(file: string): ts.SourceFile {
  const tree = syntaxTrees.get(file) ?? parse(file, fs.readFileSync(path.join(ROOT, file), 'utf8'));
  syntaxTrees.set(file, tree);
  return tree;
}

function nodesOf(root: ts.Node, nodes: ts.Node[] = []): ts.Node[] {
  nodes.push(root);
  ts.forEachChild(root, (child) => void nodesOf(child, nodes));
  return nodes;
}

/** Names by which the clock, the process, the environment or a source of entropy can be read. */
const IMPURE = new Set([
  ...[
    'now',
    'today',
    'hrtime',
    'performance',
    'timeOrigin',
    'uptime',
    'pid',
    'ppid',
    'env',
    'mtimeMs',
    'birthtimeMs',
  ],
  ...[
    'randomUUID',
    'randomBytes',
    'randomInt',
    'randomFill',
    'randomFillSync',
    'getRandomValues',
    'webcrypto',
  ],
]);
/** Sources of entropy that tests never need; `randomUUID` is allowed for names that must not collide. */
const ENTROPY = new Set([
  'randomBytes',
  'randomInt',
  'randomFill',
  'randomFillSync',
  'getRandomValues',
  'webcrypto',
]);

const nameOf = (node: ts.Node): string | undefined =>
  ts.isIdentifier(node)
    ? node.text
    : ts.isElementAccessExpression(node)
      ? stringOf(node.argumentExpression)
      : undefined;
const stringOf = (node: ts.Node | undefined) =>
  node && ts.isStringLiteralLike(node) ? node.text : undefined;

const isMathRandom = (node: ts.Node): boolean => {
  if (!ts.isIdentifier(node) || node.text !== 'Math') return false;
  // `globalThis.Math.random`
  const value =
    ts.isPropertyAccessExpression(node.parent) && node.parent.name === node ? node.parent : node;
  const { parent } = value;
  return !(
    ts.isPropertyAccessExpression(parent) &&
    parent.expression === value &&
    parent.name.text !== 'random'
  );
};

/** `Date()`, `new Date()`, or the class as a value that may be called later. */
const isCurrentDate = (node: ts.Node): boolean => {
  if (!ts.isIdentifier(node) || node.text !== 'Date') return false;
  const { parent } = node;
  if (ts.isNewExpression(parent) && parent.expression === node) return !parent.arguments?.length;
  return !ts.isPropertyAccessExpression(parent) && !ts.isTypeReferenceNode(parent);
};

/** Returns the declaration of a name in the innermost scope of the file that has one. */
function declarationOf(identifier: ts.Identifier): ts.Declaration | undefined {
  for (let scope: ts.Node = identifier.parent; scope; scope = scope.parent) {
    const own: ts.Declaration[] = [];
    const visit = (node: ts.Node): void => {
      if (
        (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node)) &&
        nameOf(node.name) === identifier.text
      )
        own.push(node);
      if (
        (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) &&
        node.name?.text === identifier.text
      )
        own.push(node);
      if (
        (ts.isImportSpecifier(node) || ts.isImportClause(node)) &&
        node.name?.text === identifier.text
      )
        own.push(node);
      // Parameters and variables of inner functions and blocks are not visible here.
      if (node === scope || !(ts.isFunctionLike(node) || ts.isBlock(node)))
        ts.forEachChild(node, visit);
    };
    visit(scope);
    if (own[0]) return own[0];
  }
  return undefined;
}

/** Returns the variable, parameter or function that declares a name, possibly in a destructuring pattern. */
function rootOf(declaration: ts.Node): ts.Node {
  return ts.isBindingElement(declaration) ? rootOf(declaration.parent.parent) : declaration;
}

/** Returns the `for…of` or `for…in` loop that declares a variable. */
const loopOf = (declaration: ts.Node) => {
  const loop = declaration.parent?.parent;
  return loop && (ts.isForOfStatement(loop) || ts.isForInStatement(loop)) ? loop : undefined;
};

/** Whether the value of a node may depend on the clock, the environment or a source of entropy, also through declarations of the file. */
function isImpure(root: ts.Node, seen = new Set<ts.Node>()): boolean {
  if (seen.has(root)) return false;
  seen.add(root);
  return nodesOf(root).some((node) => {
    if (IMPURE.has(nameOf(node) ?? '') || isMathRandom(node) || isCurrentDate(node)) return true;
    if (
      !ts.isIdentifier(node) ||
      (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)
    )
      return false;
    const declaration = declarationOf(node);
    if (!declaration) return false;
    const found = rootOf(declaration);
    const loop = loopOf(found);
    if (loop) return isImpure(loop.expression, seen);
    return (
      (ts.isVariableDeclaration(found) || ts.isFunctionDeclaration(found)) && isImpure(found, seen)
    );
  });
}

/** Whether an expression is fixed: literals, templates, arithmetic, and names that are constants, parameters or loop variables. */
function isSeed(node: ts.Expression): boolean {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return true;
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
    return isSeed(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return isSeed(node.operand);
  if (ts.isBinaryExpression(node)) return isSeed(node.left) && isSeed(node.right);
  if (ts.isTemplateExpression(node))
    return node.templateSpans.every(({ expression }) => isSeed(expression));
  if (ts.isPropertyAccessExpression(node)) return isSeed(node.expression);
  if (ts.isCallExpression(node))
    return node.expression.getText() === 'Math.floor' && node.arguments.every(isSeed);
  if (!ts.isIdentifier(node)) return false;
  const declaration = declarationOf(node);
  if (!declaration) return false;
  const found = rootOf(declaration);
  if (ts.isParameter(found)) return !found.initializer || isSeed(found.initializer);
  if (ts.isImportSpecifier(found)) return true;
  if (!ts.isVariableDeclaration(found)) return false;
  const isConstant = (ts.getCombinedNodeFlags(found) & ts.NodeFlags.Const) !== 0;
  return isConstant || ts.isForStatement(found.parent.parent);
}

const isUnder = (node: ts.Node, is: (node: ts.Node) => boolean): boolean =>
  !ts.isSourceFile(node) && (is(node) || isUnder(node.parent, is));

const isAssignment = (kind: ts.SyntaxKind) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

/** Whether a node is a type. A superclass is a value although it has the syntax of a type. */
const isType = (node: ts.Node) => ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node);

const TEST_FUNCTIONS = new Set(['test', 'it', 'describe']);
const INCOMPLETE = new Set(['skip', 'only', 'todo', 'failing']);

/** Arguments of the Jest functions that accept a time limit as one more argument. */
const ARGUMENTS = new Map([
  ...['test', 'it'].map((name) => [name, 2] as const),
  ...['beforeAll', 'beforeEach', 'afterAll', 'afterEach'].map((name) => [name, 1] as const),
]);

/** Whether a node sets a time limit of a test or hook: `jest.setTimeout`, also by destructuring, or a further argument. */
function isTimeLimit(node: ts.Node): boolean {
  if (nameOf(node) === 'testTimeout') return true;
  const owner =
    ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
      ? node.expression
      : undefined;
  const member = owner && (ts.isPropertyAccessExpression(node) ? node.name.text : nameOf(node));
  if (member === 'setTimeout' && /\bjest$/.test(owner!.getText())) return true;
  if (ts.isBindingElement(node) && node.parent.parent.kind === ts.SyntaxKind.VariableDeclaration)
    return (
      subjectOf(node.parent.parent) === 'jest' &&
      (node.propertyName ?? node.name).getText() === 'setTimeout'
    );
  return (
    ts.isCallExpression(node) &&
    node.arguments.length > (ARGUMENTS.get(startOf(node) ?? '') ?? Infinity)
  );
}

/** Returns the leftmost name of a chain such as `test.each(cases).only`. */
function startOf(node: ts.Node): string | undefined {
  if (
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isCallExpression(node)
  )
    return startOf(node.expression);
  return ts.isTaggedTemplateExpression(node) ? startOf(node.tag) : nameOf(node);
}

/** Returns violations of the rules in a file, with their lines. */
function violations(file: string, source: ts.SourceFile): string[] {
  const found: string[] = [];
  const report = (node: ts.Node, rule: string) =>
    void found.push(
      `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${rule}`,
    );
  for (const node of nodesOf(source)) {
    if (isMathRandom(node)) report(node, 'Math.random');
    if (ENTROPY.has(nameOf(node) ?? '')) report(node, 'entropy');

    if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
      const callee = nameOf(node.expression);
      if (callee === (ts.isNewExpression(node) ? 'Random' : 'randomFor') && file !== RANDOM) {
        const [seed, ...more] = node.arguments ?? [];
        if (!seed || more.length || !isSeed(seed) || isImpure(seed)) report(node, 'unstable seed');
      }
    }
    // An alias would hide calls.
    if (ts.isIdentifier(node) && file !== RANDOM && ['Random', 'randomFor'].includes(node.text)) {
      const { parent } = node;
      const isCallee =
        (ts.isNewExpression(parent) || ts.isCallExpression(parent)) && parent.expression === node;
      const isImport = ts.isImportSpecifier(parent) && !parent.propertyName;
      if (!isCallee && !isImport && !isUnder(node, isType)) report(node, 'alias of the generator');
    }
    if (
      ts.isNamespaceImport(node) ||
      (ts.isCallExpression(node) && /^(?:require|import)$/.test(node.expression.getText()))
    ) {
      const module = ts.isNamespaceImport(node)
        ? stringOf(node.parent.parent.moduleSpecifier)
        : stringOf(node.arguments[0]);
      if (/\/random(?:\.\w+)?$/.test(module ?? '')) report(node, 'alias of the generator');
    }

    if (
      ts.isVariableDeclaration(node) ||
      ts.isPropertyAssignment(node) ||
      ts.isPropertyDeclaration(node) ||
      ts.isParameter(node)
    ) {
      if (
        /seed|^state$/i.test(node.name.getText()) &&
        node.initializer &&
        !SEED_READERS.includes(file)
      )
        if (isImpure(node.initializer)) report(node, 'unstable seed');
    }
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind))
      if (
        /seed|\bstate$/i.test(node.left.getText()) &&
        !SEED_READERS.includes(file) &&
        isImpure(node.right)
      )
        report(node, 'unstable seed');

    const isSeedName = /SEED/.test(nameOf(node) ?? '');
    if (
      isSeedName &&
      isUnder(node, (above) => /\benv$/.test(subjectOf(above) ?? '')) &&
      !SEED_READERS.includes(file)
    )
      report(node, 'reads SEED');

    const member = ts.isPropertyAccessExpression(node)
      ? node.name.text
      : ts.isElementAccessExpression(node)
        ? nameOf(node)
        : undefined;
    if (member && INCOMPLETE.has(member) && TEST_FUNCTIONS.has(startOf(node) ?? ''))
      report(node, 'incomplete test');
    if (
      ts.isCallExpression(node) &&
      /^(?:x(?:it|test|describe)|f(?:it|describe))$/.test(startOf(node) ?? '')
    )
      report(node, 'incomplete test');

    if (isTimeLimit(node)) report(node, 'time limit');
  }
  return [...new Set(found)];
}

/** Returns the object from which a node reads a property, also by destructuring. */
function subjectOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node))
    return node.expression.getText();
  return ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)
    ? node.initializer?.getText()
    : undefined;
}

test('tests and scripts do not violate the rules of determinism', () => {
  expect(files.flatMap((file) => violations(file, syntaxTreeOf(file)))).toEqual([]);
});

/** Returns the files that a file imports, except for type-only imports. */
function importsOf(file: string): string[] {
  return nodesOf(syntaxTreeOf(file)).flatMap((node) => {
    const isImport =
      (ts.isImportDeclaration(node) && !node.importClause?.isTypeOnly) ||
      (ts.isExportDeclaration(node) && !node.isTypeOnly);
    const isCall =
      ts.isCallExpression(node) && /^(?:require|import)$/.test(node.expression.getText());
    const module = isImport
      ? stringOf(node.moduleSpecifier)
      : isCall
        ? stringOf(node.arguments[0])
        : undefined;
    if (!module?.startsWith('.')) return [];
    const target = path.posix.join(path.posix.dirname(file), module);
    return ['', '.ts', '.js']
      .map((ending) => target + ending)
      .filter((name) => files.includes(name));
  });
}

test('runs.js lists exactly the tests with random inputs', () => {
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  const reachesRandom = (file: string, seen = new Set<string>()): boolean =>
    imports
      .get(file)!
      .some((name) => name === RANDOM || (!seen.has(name) && reachesRandom(name, seen.add(name))));
  const expected = files.filter((file) => file.endsWith('.test.ts') && reachesRandom(file));
  expect(random).toEqual(
    expected.map((file) => file.replace(/^test\/(.*)\.test\.ts$/, '$1')).sort(),
  );
});

describe('the checker of determinism', () => {
  const rulesOf = (text: string) =>
    violations('test/sample.ts', parse('test/sample.ts', text)).map((violation) =>
      violation.replace(/^.*: /, ''),
    );

  test.each([
    ['Math.random', 'const roll = Math.random();'],
    ['Math.random', `const roll = Math['random']();`],
    ['Math.random', 'const { random } = Math;'],
    ['Math.random', 'const source = Math; source.random();'],
    ['Math.random', 'globalThis.Math.random();'],
    ['Math.random', 'items.sort(Math.random);'],
    ['entropy', `import { randomBytes } from 'node:crypto';`],
    ['entropy', 'crypto.getRandomValues(new Uint8Array(1));'],
    ['entropy', `crypto['randomInt'](3);`],
    ['unstable seed', 'new Random(Date.now());'],
    ['unstable seed', 'new Random();'],
    ['unstable seed', 'randomFor(`case ${new Date().getDay()}`);'],
    ['unstable seed', 'randomFor(String(performance.now()));'],
    ['unstable seed', 'const day = Math.floor(Date.now() / 86_400_000); randomFor(`day ${day}`);'],
    [
      'unstable seed',
      'const clock = () => Date.now(); const start = clock(); randomFor(`start ${start}`);',
    ],
    [
      'unstable seed',
      'function clock() { return process.hrtime.bigint(); } const start = clock(); new Random(start);',
    ],
    ['unstable seed', 'const { pid } = process; randomFor(`process ${pid}`);'],
    ['unstable seed', 'for (const day of [Date.now()]) randomFor(`day ${day}`);'],
    ['unstable seed', 'let count = 0; randomFor(`count ${count}`);'],
    ['unstable seed', 'randomFor(nameOfCase());'],
    ['unstable seed', 'randomFor(`process ${process.pid}`);'],
    ['unstable seed', 'const seed = Date.now();'],
    ['unstable seed', 'const SEED = Number(process.env.DAY ?? 1);'],
    ['unstable seed', 'let seed; seed = randomUUID();'],
    ['unstable seed', 'let state = 1; state = +new Date();'],
    ['unstable seed', 'this.state = Date.now();'],
    ['unstable seed', 'const options = { seed: Date.now() };'],
    ['unstable seed', 'const draw = (seed = Date.now()) => seed;'],
    ['alias of the generator', 'const make = randomFor;'],
    ['alias of the generator', `import { randomFor as make } from '../../setup/random';`],
    ['alias of the generator', `import * as generator from '../../setup/random';`],
    ['alias of the generator', `const generator = require('../../setup/random');`],
    ['alias of the generator', 'class Clock extends Random {}'],
    ['reads SEED', 'Number(process.env.SEED);'],
    ['reads SEED', `process.env['FUZZ_SEED'];`],
    ['reads SEED', 'const { SEED } = process.env;'],
    ['incomplete test', `test.skip('later', () => undefined);`],
    ['incomplete test', `describe.only('this', () => undefined);`],
    ['incomplete test', `it.todo('more');`],
    ['incomplete test', `test.each([1]).skip('%i', () => undefined);`],
    ['incomplete test', `test['only']('this', () => undefined);`],
    ['incomplete test', `xit('later', () => undefined);`],
    ['incomplete test', `fdescribe('this', () => undefined);`],
    ['time limit', 'jest.setTimeout(60_000);'],
    ['time limit', `jest['setTimeout'](60_000);`],
    ['time limit', 'globalThis.jest.setTimeout(LIMIT_MS);'],
    ['time limit', 'const { setTimeout } = jest;'],
    ['time limit', 'const { setTimeout: limit } = jest;'],
    ['time limit', 'beforeAll(build, 60_000);'],
    ['time limit', 'beforeEach(async () => start(), LIMIT_MS);'],
    ['time limit', 'afterAll(() => stop(), 60_000);'],
    ['time limit', `test('this', async () => undefined, 60_000);`],
    ['time limit', `it.each([1])('%i', async () => undefined, LIMIT_MS);`],
    ['time limit', `test.each\`a\`('this', () => undefined, 60_000);`],
    ['time limit', 'module.exports = { testTimeout: 60_000 };'],
  ])('rejects %s: %s', (rule, text) => {
    expect(rulesOf(text)).toContain(rule);
  });

  test.each([
    `import { randomFor, type Random } from '../../setup/random';`,
    `randomFor('orders').below(Math.max(1, 2));`,
    'const NAME = "orders"; randomFor(NAME); new Random(5);',
    'for (const entity of entities()) randomFor(`rows of ${entity.name}`);',
    'for (let number = 0; number < 3; number += 1) randomFor(`case ${number}`);',
    `test.each(names)('%s', (name) => { let random: Random = randomFor(\`case \${name}\`); random.chance(0.5); });`,
    'const began = Date.now(); const took = performance.now();',
    'const id = randomUUID();',
    'process.env.TZ; const at = new Date(0);',
    `extensions.only; cases.skip(1);`,
    `setTimeout(() => undefined, 10); context.setTimeout(10); jest.useFakeTimers();`,
    `beforeAll(build); test('this', () => undefined); test.each([1])('%i', () => undefined);`,
  ])('accepts %s', (text) => {
    expect(rulesOf(text)).toEqual([]);
  });
});
