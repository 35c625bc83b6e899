import js from '@eslint/js';
import graphql from '@graphql-eslint/eslint-plugin';
import stylistic from '@stylistic/eslint-plugin';
import regexp from 'eslint-plugin-regexp';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema, isObjectType } from 'graphql';
import tseslint from 'typescript-eslint';

const code = ['**/*.{ts,tsx,js,jsx,mjs,cjs}'];
const { rules: schemaRules } = graphql.configs['flat/schema-recommended'];
const { rules: relayRules } = graphql.configs['flat/schema-relay'];

const schemaFile = fileURLToPath(new URL('schema.graphql', import.meta.url));

/**
 * Object types that have no id because they are not rows: sums, charts, pages of lists, mutation
 * results. The types of rows implement Node.
 */
const values = Object.values(buildSchema(readFileSync(schemaFile, 'utf8')).getTypeMap())
  .filter((type) => isObjectType(type) && !type.getInterfaces().some(({ name }) => name === 'Node'))
  .map(({ name }) => name);

/** Permitted names: those of the REST API, Relay's `nodeId`, and the list next to its cursor. */
const WANTED = [
  'User.username',
  'Exercise.exerciseBase',
  'Exercise.exerciseBaseId',
  'Node.nodeId',
  'Changes.changes',
];

/** The rule has no options, so this wrapper drops its reports for the permitted names. */
const rule = graphql.rules['no-typename-prefix'];
const noTypenamePrefix = {
  ...rule,
  create(context) {
    const report = (problem) => {
      if (!WANTED.includes(`${problem.data.typeName}.${problem.data.fieldName}`)) {
        context.report(problem);
      }
    };

    return rule.create(Object.create(context, { report: { value: report } }));
  },
};

/**
 * Blank lines between the phases of a function: after its declarations, around blocks, and before
 * a `return` that follows a longer statement.
 */
const BLOCKS = ['multiline-block-like', 'function', 'class'];
const DECLARATIONS = ['const', 'let'];
const BLANK_LINES = [
  { blankLine: 'always', prev: DECLARATIONS, next: '*' },
  { blankLine: 'any', prev: DECLARATIONS, next: DECLARATIONS },
  { blankLine: 'always', prev: '*', next: BLOCKS },
  { blankLine: 'always', prev: BLOCKS, next: '*' },
  { blankLine: 'any', prev: ['case', 'default'], next: ['case', 'default'] },
  {
    blankLine: 'always',
    prev: ['multiline-expression', 'if', 'for', 'try', 'switch'],
    next: 'return',
  },
];

export default tseslint.config(
  { ignores: ['dist', 'node_modules', '.data'] },
  { files: code, extends: [js.configs.recommended, ...tseslint.configs.recommended] },
  {
    files: ['**/*.mjs', '**/*.js', '**/*.jsx'],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        module: 'writable',
        require: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        fetch: 'readonly',
        Worker: 'readonly',
        performance: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    files: code,
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' },
      ],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-nested-ternary': 'error',
      'object-shorthand': ['error', 'properties'],
    },
  },
  {
    files: code,
    plugins: { '@stylistic': stylistic },
    rules: {
      curly: ['error', 'multi-line'],
      '@stylistic/padding-line-between-statements': ['error', ...BLANK_LINES],
      '@stylistic/lines-around-comment': [
        'error',
        {
          beforeBlockComment: true,
          allowArrayStart: true,
          allowBlockStart: true,
          allowClassStart: true,
          allowEnumStart: true,
          allowInterfaceStart: true,
          allowModuleStart: true,
          allowObjectStart: true,
          allowTypeStart: true,
        },
      ],
    },
  },
  {
    // Tests read JSON responses, whose structure they know.
    files: ['test/**'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    // Random inputs of tests come from seeds, and no test is skipped.
    files: ['test/**', 'scripts/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Use randomFor of test/setup/random.ts.' },
        ...['test', 'it', 'describe'].flatMap((object) =>
          ['only', 'skip', 'todo', 'failing'].map((property) => ({
            object,
            property,
            message: 'Tests are complete.',
          })),
        ),
      ],
      'no-restricted-imports': [
        'error',
        {
          name: 'node:crypto',
          importNames: ['getRandomValues', 'randomBytes', 'randomFill', 'randomInt'],
          message: 'Use test/setup/random.ts.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      'no-useless-rename': 'error',
    },
  },
  {
    // Private interfaces of dependencies are used in internals only.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/database/internals/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^(?:@[\\w-]+/)?[\\w-]+/(?:lib|src)/' }] },
      ],
      'no-restricted-syntax': [
        'error',
        'CallExpression[callee.object.object.property.name="prototype"][callee.property.name=/^(?:call|apply)$/]',
        'CallExpression[callee.object.name="Object"][callee.property.name="setPrototypeOf"]',
        'CallExpression[callee.object.name="Object"][callee.property.name="create"]:not([arguments.0.raw="null"])',
        'MemberExpression[property.name=/^(?:queryGenerator|connectionManager|destroySoon|parsedStatements|shouldKeepAlive)$/]',
        'MemberExpression[object.name="client"][property.name=/^_/]',
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/shared/config.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Use shared/config.ts.' },
      ],
    },
  },
  {
    // Only src: tests know the input of their regular expressions.
    files: ['src/**/*.{ts,tsx,jsx}'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['schema.graphql'],
    languageOptions: {
      parser: graphql.parser,
      parserOptions: { graphQLConfig: { schema: schemaFile } },
    },
    plugins: {
      '@graphql-eslint': graphql,
      fitgraph: { rules: { 'no-typename-prefix': noTypenamePrefix } },
    },
    rules: {
      ...schemaRules,
      ...relayRules,
      '@graphql-eslint/strict-id-in-types': ['error', { exceptions: { types: values } }],
      // These requirements come from the rule, not from Relay: connections here have `nodes` beside
      // `edges`, and short lists of values are plain lists. A test checks that edges lead to rows
      // that `node` can load, because security events are an exception.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false },
      ],
      '@graphql-eslint/no-typename-prefix': 'off',
      'fitgraph/no-typename-prefix': 'error',
      '@graphql-eslint/require-description': [
        'error',
        {
          types: true,
          rootField: true,
          DirectiveDefinition: true,
          FieldDefinition: true,
          InputValueDefinition: true,
          EnumValueDefinition: true,
        },
      ],
    },
  },
);
