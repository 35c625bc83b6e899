/** Where the pgbouncer is that the tests of poolers start. */
const { spawnSync } = require('node:child_process');

const USUAL = ['/usr/local/bin/pgbouncer', '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'];

/** That of 1.21 is the first that keeps prepared statements in transaction mode. */
const isNew = (file) => {
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
};

/** Its path, or undefined where there is none. */
module.exports.pgbouncer = () => {
  const { PGBOUNCER } = process.env;
  if (PGBOUNCER && !isNew(PGBOUNCER)) throw new Error(`PGBOUNCER names no pgbouncer of 1.21 or newer: ${PGBOUNCER}`);
  return PGBOUNCER || USUAL.find(isNew);
};
