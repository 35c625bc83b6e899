/**
 * The layers of the code, which `npm run check:layers` enforces: a file imports from its own layer
 * and from lower ones, and never in a circle.
 */

/** Layers from top to bottom. Parts of one layer may import each other. */
const LAYERS = [
  ['index', 'cli'],
  ['server'],
  ['graphql', 'web'],
  // The context of a request, and its observability.
  ['request', 'telemetry'],
  // The domain, and what else knows its resources.
  ['fitness', 'accounts', 'rest', 'transfer'],
  ['files'],
  ['engine'],
  ['database'],
  ['shared'],
];

/** Folders of `engine` from top to bottom. */
const ENGINE_LAYERS = [
  'schema',
  'grouping',
  'execution',
  'changes',
  'write',
  'read',
  'sql',
  'access',
  'declare',
];

/** Parts that import only from these others, where the layers alone would allow more. */
const ONLY_IMPORTS = {
  // REST is a pure translation: it receives a schema and a function that executes operations.
  rest: ['shared'],
  // Private interfaces of dependencies, one file per library.
  'database/internals': [],
};

const inParts = (parts, base = 'src') => `^${base}/(${parts.join('|')})(/|\\.d|\\.tsx?$)`;

const upwardRules = (layers, base) =>
  layers.slice(1).map((parts, index) => ({
    name: `no import from a higher layer into ${base}/${parts.join(', ')}`,
    severity: 'error',
    from: { path: inParts(parts, base) },
    to: { path: inParts(layers.slice(0, index + 1).flat(), base) },
  }));

module.exports = {
  forbidden: [
    {
      name: 'no circle, except among resources, which access each other lazily',
      severity: 'error',
      from: { pathNot: '^src/(fitness/|accounts/user)' },
      to: { circular: true },
    },
    {
      name: 'every file belongs to a layer',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: inParts(LAYERS.flat()) },
    },
    ...upwardRules(LAYERS, 'src'),
    ...upwardRules(
      ENGINE_LAYERS.map((folder) => [folder]),
      'src/engine',
    ),
    ...Object.entries(ONLY_IMPORTS).map(([part, others]) => ({
      name: `${part} imports only from ${others.join(', ') || 'itself'}`,
      severity: 'error',
      from: { path: inParts([part]) },
      to: { path: '^src/', pathNot: inParts([part, ...others]) },
    })),
    {
      name: 'engine/context.ts is imported, and imports, for types only',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/engine/context\\.ts$', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
