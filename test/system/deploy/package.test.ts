/**
 * The package, the image and compose.yaml: they contain everything needed at run time and nothing
 * needed only for development.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { builtinModules } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../../src/shared/config';
import { SETTINGS } from '../../../src/shared/settings';

const root = path.join(__dirname, '../../..');
const read = (file: string) => fs.readFileSync(path.join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'optionalDependencies',
  Record<string, string>
>;

test('the program imports only declared dependencies', () => {
  const installed = new Set([
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.optionalDependencies),
    ...builtinModules,
  ]);
  const files = ['src', 'seeders'].flatMap((folder) =>
    (fs.readdirSync(path.join(root, folder), { recursive: true }) as string[]).map((file) =>
      path.join(folder, file),
    ),
  );
  const missing = files
    // The build bundles the browser part of the playground.
    .filter(
      (file) => /\.tsx?$/.test(file) && !file.startsWith(path.join('src/web/playground/browser')),
    )
    .flatMap((file) =>
      [
        ...read(file).matchAll(
          /^(?:import|export)\b(?! type\b)[^'";]*?from '([^.'][^']*)'|\b(?:require|import)\('([^.'][^']*)'\)/gm,
        ),
      ]
        .map(([, imported, loaded]) => (imported ?? loaded)!.replace(/^node:/, ''))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
        )
        .filter((name) => !installed.has(name))
        .map((name) => `${file}: ${name}`),
    );

  expect(missing).toEqual([]);
});

test('the package contains guides and deployment files, but no sources or tests', () => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--dry-run', '--json', '--ignore-scripts'],
    { cwd: root, encoding: 'utf8' },
  );

  expect([status, stderr.replace(/^npm warn.*\n/gm, '')]).toEqual([0, '']);
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const folders = [...new Set(files.map(({ path: file }) => file.split('/')[0]))];

  expect(folders).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'deploy',
      'docs',
      'package.json',
      'schema.graphql',
    ]),
  );
  expect(
    folders.filter((folder) =>
      ['bench', 'node_modules', 'scripts', 'src', 'test'].includes(folder!),
    ),
  ).toEqual([]);
});

test('a build without the development dependencies says which command installs them', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-build-'));

  try {
    fs.cpSync(path.join(root, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
      cwd: folder,
      encoding: 'utf8',
    });

    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^The build needs the development dependencies.*`npm ci --include=dev`\.\n$/,
      ),
    ]);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test('compose.yaml sets only documented settings to valid values', () => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<
      'fitgraph' | 'database',
      { environment: Record<string, string>; healthcheck?: object; depends_on?: object }
    >;
  };
  const { environment } = services.fitgraph;

  expect(services.fitgraph.depends_on).toEqual({ database: { condition: 'service_healthy' } });
  const configured = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):?([-?])([^}]*)\}/g, (_, variable: string, sign, text: string) =>
        sign === '-' ? text : 'x'.repeat(variable === 'SECRET_KEY' ? 32 : 8),
      ),
    ]),
  );
  const known = Object.values(SETTINGS).map(({ name }) => name);

  expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
  expect(readConfig({ NODE_ENV: 'production', ...configured })).toMatchObject({
    production: true,
    databaseUrl: expect.stringContaining('@database:5432/'),
  });
});

test('the image runs as an unprivileged user and is restarted when it is not live, whatever the state of the database', () => {
  const stages = read('Dockerfile').split(/^FROM /m);

  expect(stages).toHaveLength(3);
  expect(stages[2]).toMatch(/^USER node$/m);
  expect(/^HEALTHCHECK [^]*?CMD (.*)/m.exec(stages[2]!)![1]).toContain(
    "process.env.PORT + '/health/live'",
  );
  expect(stages[2]).not.toMatch(/^COPY \. /m);
});
