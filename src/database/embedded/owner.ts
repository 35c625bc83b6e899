/**
 * The PostgreSQL role with which Fitgraph uses the embedded database. It owns the database and has no other privileges, so that injected SQL can access
 * neither files nor programs. The cluster's superuser creates it.
 */
import type { Client } from 'pg';
import { ConfigError } from '../../platform/config';
import { viewerRoleOf } from '../viewerrole';
import { connectAsSuperuser } from './server';
import { ADVISORY_LOCK_KEYS } from '../advisorylocks';

export const DATABASE_NAME = 'fitgraph';
export const OWNER_ROLE = 'fitgraph_owner';
/**
 * Role under which the statements of requests run. The superuser creates it here, because the owner of the database lacks the privilege CREATEROLE.
 */
const VIEWER_ROLE = viewerRoleOf(OWNER_ROLE);

const CREATE_ROLES_SQL = `DO $$ BEGIN
  IF to_regrole('${OWNER_ROLE}') IS NULL THEN CREATE ROLE ${OWNER_ROLE} LOGIN; END IF;
  IF to_regrole('${VIEWER_ROLE}') IS NULL THEN CREATE ROLE ${VIEWER_ROLE} NOLOGIN; END IF;
  IF NOT pg_has_role('${OWNER_ROLE}', '${VIEWER_ROLE}', 'MEMBER') THEN GRANT ${VIEWER_ROLE} TO ${OWNER_ROLE}; END IF;
END $$`;

/**
 * SQL: transfers the database and its objects to the owner. Releases up to 0.2.0 created them as the superuser, whose objects REASSIGN OWNED cannot
 * transfer. Excludes objects that belong to extensions, and row types, array types and column sequences, whose owner changes with that of their
 * table.
 */
const TRANSFER_OWNERSHIP_SQL = `DO $$ DECLARE statement text; BEGIN
  FOR statement IN
    SELECT format('ALTER %s %s OWNER TO ${OWNER_ROLE}', i."type", i."identity")
    FROM (SELECT 'pg_class'::regclass AS class, oid, relnamespace AS namespace, relowner AS owner, relkind::text AS kind FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      UNION ALL SELECT 'pg_proc', oid, pronamespace, proowner, '' FROM pg_proc
      UNION ALL SELECT 'pg_type', oid, typnamespace, typowner, '' FROM pg_type
      UNION ALL SELECT 'pg_collation', oid, collnamespace, collowner, '' FROM pg_collation
      UNION ALL SELECT 'pg_namespace', oid, oid, nspowner, '' FROM pg_namespace) o
    JOIN pg_namespace n ON n.oid = o.namespace, pg_identify_object(o.class, o.oid, 0) i
    WHERE o.owner = current_user::regrole AND n.nspname !~ '^pg_|^information_schema$'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid 
        AND (d.deptype = 'e' OR d.deptype IN ('i', 'a') AND o.kind IN ('S', '')))
    UNION ALL SELECT 'ALTER DATABASE ${DATABASE_NAME} OWNER TO ${OWNER_ROLE}' FROM pg_database WHERE datname = '${DATABASE_NAME}' AND datdba = current_user::regrole
  LOOP EXECUTE statement; END LOOP;
END $$`;

/** Error codes of a lock timeout and a deadlock (https://www.postgresql.org/docs/current/errcodes-appendix.html): another process is using the database. */
const LOCK_CONFLICT_CODES = ['55P03', '40P01'];

/** Creates the roles and the database if they are missing, and transfers the database from the superuser to its owner role. */
export async function ensureOwnerAndDatabase(superuserClient: Client): Promise<void> {
  const { rows } = await superuserClient.query('SELECT pg_is_in_recovery() AS "isStandby"');
  // Nothing needs to be created on a standby: it replicates the role and the database from its primary.
  if ((rows as [{ isStandby: boolean }])[0].isStandby) return;
  let client: Client | undefined;
  try {
    // Serializes processes that open the database concurrently.
    await superuserClient.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK_KEYS.embeddedOwner]);
    await superuserClient.query(CREATE_ROLES_SQL);
    const { rowCount } = await superuserClient.query(
      'SELECT 1 FROM pg_database WHERE datname = $1',
      [DATABASE_NAME],
    );
    if (!rowCount)
      await superuserClient.query(`CREATE DATABASE ${DATABASE_NAME} OWNER ${OWNER_ROLE}`);
    client = await connectAsSuperuser(superuserClient.host, DATABASE_NAME);
    await client.query(TRANSFER_OWNERSHIP_SQL);
    await superuserClient.query('SELECT pg_advisory_unlock($1)', [
      ADVISORY_LOCK_KEYS.embeddedOwner,
    ]);
  } catch (error) {
    if (!LOCK_CONFLICT_CODES.includes((error as { code?: string }).code ?? '')) throw error;
    throw new ConfigError(
      'DATA_DIR: an earlier version of Fitgraph is using the database: stop it first',
    );
  } finally {
    await client?.end();
  }
}
