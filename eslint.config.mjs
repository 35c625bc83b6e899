import js from '@eslint/js';
import graphql from '@graphql-eslint/eslint-plugin';
import regexp from 'eslint-plugin-regexp';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSchema, isObjectType } from 'graphql';
import tseslint from 'typescript-eslint';

const code = ['**/*.{ts,tsx,js,jsx,mjs,cjs}'];
const { rules: schemaRules } = graphql.configs['flat/schema-recommended'];
const { rules: relayRules } = graphql.configs['flat/schema-relay'];

const schemaFile = fileURLToPath(new URL('schema.graphql', import.meta.url));
/** Object types that have no id because they are not rows: sums, charts, pages of lists, mutation results. The types of rows implement Node. */
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
      if (!WANTED.includes(`${problem.data.typeName}.${problem.data.fieldName}`))
        context.report(problem);
    };
    return rule.create(Object.create(context, { report: { value: report } }));
  },
};

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
      'object-shorthand': ['error', 'properties'],
    },
  },
  {
    // Tests read JSON responses, whose structure they know.
    files: ['test/**'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
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
      // These requirements come from the rule, not from Relay: connections here have `nodes` beside `edges`, and short lists of values are plain
      // lists. A test checks that edges lead to rows that `node` can load, because security events are an exception.
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
