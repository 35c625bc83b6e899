/**
 * The code of the quick start: its TypeScript has no type errors in a project from Vite's template,
 * and its functions read all rows of the demo account.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { build, Installation, type Server } from '../../setup/server-process';

const ROOT = path.join(__dirname, '../../..');
const GUIDE = fs.readFileSync(path.join(ROOT, 'docs/quickstart.md'), 'utf8');

/** Compiler options of `npm create vite -- --template react-ts` (tsconfig.app.json). */
const VITE_COMPILER_OPTIONS = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  module: 'ESNext',
  types: [],
  skipLibCheck: true,
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  moduleDetection: 'force',
  noEmit: true,
  jsx: 'react-jsx',
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  erasableSyntaxOnly: true,
  noFallthroughCasesInSwitch: true,
  noUncheckedSideEffectImports: true,
};

/** A separate program, because Jest cannot load the plugins, which are ES modules. */
const GENERATOR = `
  import { codegen } from '@graphql-codegen/core';
  import * as typescript from '@graphql-codegen/typescript';
  import * as operations from '@graphql-codegen/typescript-operations';
  import { readFileSync, writeFileSync } from 'node:fs';
  import { parse } from 'graphql';
  const [schemaFile, filename, config] = process.argv.slice(2);
  const document = parse('query Logs { workoutLogs { nodes { date weightKg } } }');
  writeFileSync(filename, await codegen({
    filename, schema: parse(readFileSync(schemaFile, 'utf8')), config: JSON.parse(config),
    documents: [{ location: 'logs.graphql', document }],
    plugins: [{ typescript: {} }, { operations: {} }], pluginMap: { typescript, operations },
  }));`;

const codeBlocks = (languages: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code!,
  );

/** The TypeScript of the guide by the file name in its first line. */
const sources = new Map(
  codeBlocks('ts|tsx').map((code) => [/^\/\/ (\S+)/.exec(code)?.[1] ?? '', code]),
);

interface CodegenConfig {
  documents: string;
  config: { scalars: Record<string, string>; useTypeImports: boolean };
}

let folder: string;
let installation: Installation;
let server: Server;
let logCount: number;

const writeSource = (name: string, text: string) => {
  const file = path.join(folder, name);

  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
};

const forThisServer = (code: string) =>
  code.replaceAll('http://localhost:8000', server.url).replaceAll('<key>', server.demo.token);

beforeAll(async () => {
  build();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-quickstart-'));
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  installation = await Installation.started();
  server = await installation.start();
  const demo = server.signedIn(server.demo.token);

  logCount = (
    await demo.ask('{ workoutLogs(where: { date: { gte: "2000-01-01" } }) { totalCount } }')
  ).workoutLogs.totalCount;
});
afterAll(async () => {
  fs.rmSync(folder, { recursive: true, force: true });
  await installation.remove();
});

function typeErrors(): string[] {
  writeSource(
    'tsconfig.json',
    JSON.stringify({ compilerOptions: VITE_COMPILER_OPTIONS, include: ['src', '*.ts'] }),
  );
  const { stdout } = spawnSync(
    process.execPath,
    [path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder],
    { cwd: folder, encoding: 'utf8' },
  );

  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

const runModule = (code: string): unknown => {
  const file = writeSource('run.ts', code);
  const [output] = buildSync({
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  }).outputFiles;
  const script = writeSource('run.mjs', output!.text);

  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
};

test('has only TypeScript with a file name, without type errors in the template of Vite', () => {
  expect([...sources.keys()]).toEqual([
    'codegen.ts',
    'src/request.ts',
    'src/workout-logs.ts',
    'src/WorkoutLogs.tsx',
    'src/changes.ts',
  ]);
  for (const [name, code] of sources) writeSource(name, code);
  const generator = writeSource('generate.mjs', GENERATOR);
  const { config } = codegenConfig();

  writeSource('src/gql/.keep', '');
  execFileSync(process.execPath, [
    generator,
    path.join(ROOT, 'schema.graphql'),
    path.join(folder, 'src/gql/graphql.ts'),
    JSON.stringify(config),
  ]);
  expect(typeErrors()).toEqual([]);
});

function codegenConfig(): CodegenConfig {
  return runModule(
    `${sources.get('codegen.ts')!.replace('export default', 'const config =')}\nconsole.log(JSON.stringify(config))`,
  ) as CodegenConfig;
}

test('generates code from components too, with type imports', () => {
  const { documents, config } = codegenConfig();

  expect(documents).toBe('src/**/*.{ts,tsx}');
  expect(config.useTypeImports).toBe(true);
});

test('reads all rows in TypeScript', () => {
  for (const [name, code] of sources) writeSource(name, forThisServer(code));
  const logs = runModule(
    `import { readWorkoutLogs } from './src/workout-logs';\nreadWorkoutLogs('2000-01-01').then((logs) => console.log(JSON.stringify(logs.length)))`,
  );

  expect(logCount).toBeGreaterThan(1_000);
  expect(logs).toBe(logCount);
});

/** The part of the library `requests` that the example uses, which need not be installed. */
const REQUESTS_LIBRARY = `
import json as encoder, urllib.request

class Response:
    def __init__(self, text): self.text = text
    def json(self): return encoder.loads(self.text)

def post(url, json, headers):
    body = encoder.dumps(json).encode()
    headers = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        return Response(response.read())
`;

test('reads all rows in Python', () => {
  const [code] = codeBlocks('python');
  const script = forThisServer(code!).replace('"2026-01-01"', '"2000-01-01"');

  writeSource('requests.py', REQUESTS_LIBRARY);
  writeSource('quickstart.py', `${script}\nprint(len(logs))`);
  const output = execFileSync('python3', ['quickstart.py'], { cwd: folder, encoding: 'utf8' });

  expect(Number(output)).toBe(logCount);
});
