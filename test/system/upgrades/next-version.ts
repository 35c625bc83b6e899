/**
 * A build of the next version: a copy of the current one with another version number and further
 * migrations.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { transformFileSync } from '@swc/core';
import type { MigrationModule } from '../../../src/database/migration-modules';

const ROOT = path.join(__dirname, '../../..');
const MIGRATIONS = path.join(__dirname, 'migrations');
const NEXT_VERSION = '99.0.0';

/** Returns the names of all migrations of the folder, in order. */
export const nextMigrations = (): string[] =>
  fs
    .readdirSync(MIGRATIONS)
    .map((file) => path.basename(file, '.ts'))
    .sort();

export const nextMigrationNamed = (name: string) =>
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- found by name
  require(path.join(MIGRATIONS, name)) as MigrationModule;

export class NextVersion {
  readonly root = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-next-'));

  constructor() {
    fs.chmodSync(this.root, 0o755);
    fs.cpSync(path.join(ROOT, 'dist'), path.join(this.root, 'dist'), { recursive: true });
    fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(this.root, 'node_modules'));
    const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as object;

    fs.writeFileSync(
      path.join(this.root, 'package.json'),
      JSON.stringify({ ...manifest, version: NEXT_VERSION }),
    );
  }

  /** Compiles a migration of the folder `migrations` into the build. */
  addMigration(name: string): void {
    const { code } = transformFileSync(path.join(MIGRATIONS, `${name}.ts`), {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    });

    fs.writeFileSync(path.join(this.root, 'dist/src/database/migrations', `${name}.js`), code);
  }

  remove(): void {
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}
