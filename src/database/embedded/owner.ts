/**
 * The PostgreSQL role with which Fitgraph uses the embedded database. It owns the database and has
 * no other privileges, so that injected SQL can access neither files nor programs. The cluster's
 * superuser creates it.
 */
import type { Client } from 'pg';
import { ConfigError } from '../../shared/config';
import { viewerRoleName } from '../viewer-role';
import { connectAsSuperuser } from './server';
import { ADVISORY_LOCK_KEYS } from '../advisory-locks';

export const DATABASE_NAME = 'fitgraph';
export const OWNER_ROLE = 'fitgraph_owner';

/**
 * Role under which the statements of requests run. The superuser creates it, because the owner of
 * the database lacks the privilege CREATEROLE.
 */
const VIEWER_ROLE = viewerRoleName(OWNER_ROLE);

const CREATE_ROLES_SQL = `DO $$ BEGIN
  IF to_regrole('${OWNER_ROLE}') IS NULL THEN CREATE ROLE ${OWNER_ROLE} LOGIN; END IF;
  IF to_regrole('${VIEWER_ROLE}') IS NULL THEN CREATE ROLE ${VIEWER_ROLE} NOLOGIN; END IF;
  IF NOT pg_has_role('${OWNER_ROLE}', '${VIEWER_ROLE}', 'MEMBER') THEN GRANT ${VIEWER_ROLE} TO ${OWNER_ROLE}; END IF;
END $$`;

/**
 * SQL: transfers all objects of the superuser to the owner role, because releases up to 0.2.0
 * worked as the superuser. REASSIGN OWNED rejects the superuser that created the cluster. Excludes
 * objects of extensions, and objects that follow the owner of their table, such as identity
 * sequences.
 */
const TRANSFER_OWNERSHIP_SQL = `DO $$ DECLARE statement text; BEGIN
  FOR statement IN
    SELECT format('ALTER %s %s OWNER TO ${OWNER_ROLE}', i."type", i."identity")
    FROM (SELECT 'pg_class'::regclass AS class, oid, relnamespace AS namespace, relowner AS owner,
      relkind::text AS kind FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
      UNION ALL SELECT 'pg_proc', oid, pronamespace, proowner, '' FROM pg_proc
      UNION ALL SELECT 'pg_type', oid, typnamespace, typowner, '' FROM pg_type
      UNION ALL SELECT 'pg_collation', oid, collnamespace, collowner, '' FROM pg_collation
      UNION ALL SELECT 'pg_namespace', oid, oid, nspowner, '' FROM pg_namespace) o
    JOIN pg_namespace n ON n.oid = o.namespace, pg_identify_object(o.class, o.oid, 0) i
    WHERE o.owner = current_user::regrole AND n.nspname !~ '^pg_|^information_schema$'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = o.class AND d.objid = o.oid 
        AND (d.deptype = 'e' OR d.deptype IN ('i', 'a') AND o.kind IN ('S', '')))
    UNION ALL SELECT 'ALTER DATABASE ${DATABASE_NAME} OWNER TO ${OWNER_ROLE}' FROM pg_database
    WHERE datname = '${DATABASE_NAME}' AND datdba = current_user::regrole
  LOOP EXECUTE statement; END LOOP;
END $$`;

/**
 * PostgreSQL error codes lock_not_available and deadlock_detected. The transfer of ownership fails
 * with them while a running earlier version of Fitgraph uses the tables.
 */
const LOCK_CONFLICT_CODES = ['55P03', '40P01'];

/**
 * Creates the roles and the database if they are missing, and transfers objects that the superuser
 * owns to the owner role.
 */
export async function ensureRolesAndDatabase(superuserClient: Client): Promise<void> {
  const { rows } = await superuserClient.query('SELECT pg_is_in_recovery() AS "isStandby"');

  // Creates nothing on a standby, which replicates the roles and the database from its primary.
  if ((rows as [{ isStandby: boolean }])[0].isStandby) return;
  let fitgraphDatabaseClient: Client | undefined;

  try {
    // Serializes processes that open the database concurrently.
    await superuserClient.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK_KEYS.embeddedOwner]);
    await superuserClient.query(CREATE_ROLES_SQL);
    const { rowCount } = await superuserClient.query(
      'SELECT 1 FROM pg_database WHERE datname = $1',
      [DATABASE_NAME],
    );

    if (!rowCount) {
      await superuserClient.query(`CREATE DATABASE ${DATABASE_NAME} OWNER ${OWNER_ROLE}`);
    }

    fitgraphDatabaseClient = await connectAsSuperuser(superuserClient.host, DATABASE_NAME);
    await fitgraphDatabaseClient.query(TRANSFER_OWNERSHIP_SQL);
    await superuserClient.query('SELECT pg_advisory_unlock($1)', [
      ADVISORY_LOCK_KEYS.embeddedOwner,
    ]);
  } catch (error) {
    if (!LOCK_CONFLICT_CODES.includes((error as { code?: string }).code ?? '')) throw error;
    throw new ConfigError(
      'DATA_DIR: an earlier version of Fitgraph is using the database: stop it first',
    );
  } finally {
    await fitgraphDatabaseClient?.end();
  }
}
