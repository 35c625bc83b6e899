/**
 * Finds what some tests need and npm does not provide: programs, and the permission to mount file
 * systems.
 */
const { spawnSync } = require('node:child_process');
const { accessSync, constants, mkdtempSync, rmdirSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const runs = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Whether PgBouncer is 1.21 or newer, the first version that supports prepared statements in
 * transaction mode.
 */
const isNewPgbouncer = (file) => {
  const [, major, minor] =
    /^PgBouncer (\d+)\.(\d+)/.exec(
      spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '',
    ) ?? [];

  return Number(major) > 1 || Number(minor) >= 21;
};

/**
 * Returns the path in the environment variable, or the first usual path that exists; undefined if
 * there is none.
 */
const program = (variable, what, usual, is) => {
  const named = process.env[variable];

  if (named && !is(named)) throw new Error(`${variable} names no ${what}: ${named}`);

  return named || usual.find(is);
};

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

module.exports.chromium = () => program('CHROMIUM', 'program', CHROMIUM, runs);

const PGBOUNCER = ['/usr/local/bin/pgbouncer', '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'];

module.exports.pgbouncer = () =>
  program('PGBOUNCER', 'pgbouncer of 1.21 or newer', PGBOUNCER, isNewPgbouncer);

const NGINX = [
  '/usr/sbin/nginx',
  '/usr/local/sbin/nginx',
  '/usr/local/bin/nginx',
  '/usr/bin/nginx',
];

module.exports.nginx = () => program('NGINX', 'program', NGINX, runs);

const SYSTEMD_ANALYZE = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'];

module.exports.systemdAnalyze = () => program('SYSTEMD_ANALYZE', 'program', SYSTEMD_ANALYZE, runs);

/** Whether this process can mount file systems. Only root can, but not in most containers. */
module.exports.canMount = () => {
  if (process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-mount-'));
  const mounted =
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;

  if (mounted) spawnSync('umount', [folder]);
  rmdirSync(folder);
  return mounted;
};
