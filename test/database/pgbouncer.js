/** Where the pgbouncer is that the test of poolers starts. */
const { accessSync, constants } = require('node:fs');

const USUAL = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

const runs = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Its path, or undefined where there is none. */
module.exports.pgbouncer = () => {
  const { PGBOUNCER } = process.env;
  if (PGBOUNCER && !runs(PGBOUNCER)) throw new Error(`PGBOUNCER names no program: ${PGBOUNCER}`);
  return PGBOUNCER || USUAL.find(runs);
};
