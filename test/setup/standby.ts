/** Creates a hot standby of an embedded PostgreSQL. */
import fs from 'node:fs';
import path from 'node:path';
import { Client, type PoolConfig } from 'pg';
import { asSuperuser } from './databases';

/**
 * Creates the files of a streaming standby from a base backup of a running embedded server;
 * `openEmbeddedDatabase` starts it.
 * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
export async function createStandby(
  primary: PoolConfig,
  primaryDir: string,
  dataDir: string,
): Promise<void> {
  const client = new Client(asSuperuser(primary));

  await client.connect();
  await client.query(`SELECT pg_backup_start('standby', true)`);
  const [from, to] = [path.join(primaryDir, 'postgres'), path.join(dataDir, 'postgres')];

  fs.mkdirSync(dataDir);
  const isExcluded = (name: string) =>
    /\/(?:postmaster\.(?:pid|opts)|pg_wal\/[^/]*[0-9A-F]{24}[^/]*)$/.test(name);

  fs.cpSync(from, to, { recursive: true, filter: (name) => !isExcluded(name) });
  const [{ labelfile }] = (await client.query('SELECT "labelfile" FROM pg_backup_stop(false)'))
    .rows;

  await client.end();
  const { user, host, port } = asSuperuser(primary);

  fs.writeFileSync(path.join(to, 'backup_label'), labelfile);
  fs.writeFileSync(path.join(to, 'standby.signal'), '');
  fs.appendFileSync(
    path.join(to, 'postgresql.auto.conf'),
    `primary_conninfo = 'user=${user} host=${host} port=${port}'\n`,
  );
  const { uid, gid, mode } = fs.statSync(from);

  const changeOwner = (place: string): void => {
    fs.chownSync(place, uid, gid);

    if (fs.statSync(place).isDirectory()) {
      for (const name of fs.readdirSync(place)) changeOwner(path.join(place, name));
    }
  };

  changeOwner(to);
  fs.chmodSync(to, mode);
}
