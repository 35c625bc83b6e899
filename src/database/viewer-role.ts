/**
 * The viewer role: the PostgreSQL role of requests. Unlike the owner of the tables, it is subject
 * to row-level security. PostgreSQL shares roles between databases, so each owner has its own
 * viewer role. Policies apply to this role only, because any role could set the session user that
 * they check.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { DatabaseError, escapeIdentifier, type ClientBase, type Pool } from 'pg';
import { ConfigError } from '../shared/config';
import type { Database } from './connection';

const MAX_ROLE_NAME_BYTES = 63;
const VIEWER_ROLE_SUFFIX = '_viewer';

const PRIVILEGES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/**
 * PostgreSQL error code insufficient_privilege
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const INSUFFICIENT_PRIVILEGE_CODE = '42501';

/**
 * Error codes after which a statement is repeated: a concurrent CREATE ROLE or GRANT of another
 * process, a deadlock, or a lock timeout.
 */
const RETRYABLE_ERROR_CODES = ['42710', '23505', 'XX000', '40001', '40P01', '55P03'];
const MAX_ROLE_CHANGE_ATTEMPTS = 20;
const RETRY_PAUSE_MS = 25;
const LOCK_TIMEOUT_MS = 1_000;

export interface RowSecurityStatus {
  role: string;

  /** Why requests cannot use the viewer role. */
  problem?: string;

  /** SQL or command by which an administrator makes the viewer role usable. */
  advice?: string;

  /**
   * Whether row-level security applies to the server's own role, so that the server sees no rows.
   */
  appliesToServer: boolean;
}

/** The owner of the tables, and the role as which the server connects. */
interface TableOwnership {
  owner: string;
  currentUser: string;
}

export function viewerRoleName(owner: string): string {
  const name = owner + VIEWER_ROLE_SUFFIX;

  if (Buffer.byteLength(name) <= MAX_ROLE_NAME_BYTES) return name;

  return `fitgraph_${createHash('md5').update(owner).digest('hex')}${VIEWER_ROLE_SUFFIX}`;
}

async function findOwnership(
  client: Pick<ClientBase, 'query'>,
): Promise<TableOwnership | undefined> {
  const { rows } = await client.query(
    `SELECT pg_get_userbyid("relowner") AS "owner", current_user AS "currentUser" FROM pg_class
      WHERE "oid" = to_regclass('user_account')`,
  );

  return rows[0] as TableOwnership | undefined;
}

const roleExists = async (role: string, client: ClientBase): Promise<boolean> =>
  (await client.query('SELECT FROM pg_roles WHERE "rolname" = $1', [role])).rowCount === 1;

/** Runs `callback` under the given role in a transaction that is always rolled back. */
async function withRole<T>(
  role: string,
  client: ClientBase,
  callback: () => Promise<T>,
): Promise<T> {
  await client.query(`BEGIN; SET LOCAL ROLE ${escapeIdentifier(role)}`);

  try {
    return await callback();
  } finally {
    await client.query('ROLLBACK');
  }
}

async function canSetRole(role: string, client: ClientBase): Promise<boolean> {
  try {
    await withRole(role, client, async () => undefined);
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    if ((error as DatabaseError).code !== INSUFFICIENT_PRIVILEGE_CODE) throw error;

    return false;
  }
}

async function retryRoleConflicts(callback: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return void (await callback());
    } catch (error) {
      if (
        !RETRYABLE_ERROR_CODES.includes(String((error as DatabaseError).code)) ||
        attempt === MAX_ROLE_CHANGE_ATTEMPTS
      ) {
        throw error;
      }

      await sleep(RETRY_PAUSE_MS);
    }
  }
}

/**
 * SQL: tables, views and sequences for which the role `$1` lacks a privilege that requests need.
 * Fitgraph's objects belong to the owner of the account table, or to the current user as a member
 * of that owner.
 */
const MISSING_PRIVILEGES_SQL = `SELECT c."relname" AS "name", c."relkind" = 'S' AS "isSequence"
  FROM pg_class c
  WHERE c."relnamespace" = quote_ident(current_schema())::regnamespace
    AND c."relkind" IN ('r', 'p', 'v', 'S')
    AND c."relowner" IN ((SELECT "relowner" FROM pg_class
      WHERE "oid" = to_regclass('user_account')), quote_ident(current_user)::regrole)
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d."classid" = 'pg_class'::regclass
    AND d."objid" = c."oid" AND d."deptype" = 'e')
    AND CASE WHEN c."relkind" = 'S' THEN NOT has_sequence_privilege($1, c."oid", 'USAGE')
      ELSE NOT (${PRIVILEGES.map((privilege) => `has_table_privilege($1, c."oid", '${privilege}')`).join(' AND ')}) END`;

/**
 * Creates the viewer role, grants its privileges and restricts the policies to it, as far as the
 * server's role may do so. `checkRowSecurityStatus` reports what is missing. Other processes may do
 * the same concurrently.
 */
export async function prepareViewerRole(client: ClientBase): Promise<void> {
  const ownership = await findOwnership(client);

  if (!ownership) return;
  const role = viewerRoleName(ownership.owner);
  const name = escapeIdentifier(role);

  try {
    await retryRoleConflicts(async () => {
      if (!(await roleExists(role, client))) await client.query(`CREATE ROLE ${name} NOLOGIN`);
    });
    await retryRoleConflicts(async () => {
      if (!(await canSetRole(role, client))) {
        await client.query(`GRANT ${name} TO ${escapeIdentifier(ownership.currentUser)}`);
      }
    });
    await retryRoleConflicts(() => grantPrivileges(role, ownership.owner, client));
  } catch (error) {
    if ((error as DatabaseError).code !== INSUFFICIENT_PRIVILEGE_CODE) throw error;
  }

  await assignRowSecurityPolicies(client);
}

/**
 * Row-level security policies that migrations create. Policies that an administrator has created
 * for other roles are not changed.
 */
const POLICY_NAMES = ['own_rows', 'own_changes', 'noted'];

/** SQL: policies named in `$2` that do not apply to exactly the role `$1`. */
const POLICIES_OF_WRONG_ROLE_SQL = `SELECT p."polname" AS "policy", c."relname" AS "table"
  FROM pg_policy p JOIN pg_class c ON c."oid" = p."polrelid"
  WHERE c."relnamespace" = quote_ident(current_schema())::regnamespace AND p."polname" = ANY($2)
    AND p."polroles" <> ARRAY[quote_ident($1)::regrole::oid] ORDER BY c."relname", p."polname"`;

/**
 * Restricts the policies to the viewer role, so that no other role sees rows through them. Until
 * that role exists, they apply to the owner. Call this after tables have been created or their
 * owner has changed.
 */
export async function assignRowSecurityPolicies(client: ClientBase): Promise<void> {
  const ownership = await findOwnership(client);

  if (!ownership) return;
  const role = viewerRoleName(ownership.owner);
  const policyRole = (await roleExists(role, client)) ? role : ownership.owner;
  const { rows } = await client.query(POLICIES_OF_WRONG_ROLE_SQL, [policyRole, POLICY_NAMES]);

  for (const { policy, table } of rows) {
    const alterPolicySql = `ALTER POLICY ${escapeIdentifier(policy)} ON ${escapeIdentifier(table)} TO ${escapeIdentifier(policyRole)}`;

    // Changes each policy in a transaction of its own with a lock timeout, because requests for a
    // table wait behind an ALTER POLICY that waits for its lock.
    await retryRoleConflicts(() =>
      client.query(
        `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true); ${alterPolicySql}`,
      ),
    );
  }
}

/**
 * Grants the viewer role its missing privileges, also on future tables, because a restore creates
 * tables while servers are running.
 */
async function grantPrivileges(role: string, owner: string, client: ClientBase): Promise<void> {
  const { rows: objects } = await client.query(MISSING_PRIVILEGES_SQL, [role]);

  if (!objects.length) return;
  const name = escapeIdentifier(role);
  const [{ schema }] = (await client.query('SELECT quote_ident(current_schema()) AS "schema"'))
    .rows;
  const grantByDefaultSql = `ALTER DEFAULT PRIVILEGES FOR ROLE ${escapeIdentifier(owner)} IN SCHEMA ${schema} GRANT`;

  await client.query(
    [
      `GRANT USAGE ON SCHEMA ${schema} TO ${name}`,
      `${grantByDefaultSql} ${PRIVILEGES.join(', ')} ON TABLES TO ${name}`,
      `${grantByDefaultSql} USAGE ON SEQUENCES TO ${name}`,
      ...objects.map(
        (object) =>
          `GRANT ${object.isSequence ? 'USAGE ON SEQUENCE' : `${PRIVILEGES.join(', ')} ON`} ${escapeIdentifier(object.name)} TO ${name}`,
      ),
    ].join('; '),
  );
}

/** Tests whether row-level security can be applied to requests, by switching to the viewer role. */
export async function checkRowSecurityStatus(pool: Pool): Promise<RowSecurityStatus | undefined> {
  const client = await pool.connect();
  let failure: Error | undefined;

  try {
    const ownership = await findOwnership(client);

    return ownership && (await findRowSecurityStatus(ownership, client));
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

/**
 * SQL: whether row-level security is active for the current role on any (`some`) or on every
 * (`all`) table that has it enabled.
 */
const ROW_SECURITY_ACTIVE_SQL = `SELECT coalesce(bool_or(row_security_active("oid")),
  false) AS "some", coalesce(bool_and(row_security_active("oid")), false) AS "all"
  FROM pg_class WHERE "relnamespace" = quote_ident(current_schema())::regnamespace
    AND "relrowsecurity"`;

async function findRowSecurityStatus(
  { owner, currentUser }: TableOwnership,
  client: ClientBase,
): Promise<RowSecurityStatus> {
  const role = viewerRoleName(owner);
  const name = escapeIdentifier(role);
  const user = escapeIdentifier(currentUser);
  const appliesToServer = (await client.query(ROW_SECURITY_ACTIVE_SQL)).rows[0].some as boolean;
  const status = { role, appliesToServer };

  if (appliesToServer) {
    return {
      ...status,
      problem: `the tables belong to ${owner}, and ${currentUser} is not a member of it`,
      advice: `GRANT ${escapeIdentifier(owner)} TO ${user};`,
    };
  }

  if (!(await roleExists(role, client))) {
    return {
      ...status,
      problem: `the role ${role} does not exist`,
      advice: `CREATE ROLE ${name} NOLOGIN; GRANT ${name} TO ${user};`,
    };
  }

  if (!(await canSetRole(role, client))) {
    return {
      ...status,
      problem: `${currentUser} is not allowed to use the role ${role}`,
      advice: `GRANT ${name} TO ${user};`,
    };
  }

  const isActiveOnAllTables = (
    await withRole(role, client, () => client.query(ROW_SECURITY_ACTIVE_SQL))
  ).rows[0].all as boolean;

  if (!isActiveOnAllTables) {
    return {
      ...status,
      problem: `row-level security does not apply to the role ${role}`,
      advice: `ALTER ROLE ${name} NOSUPERUSER NOBYPASSRLS;`,
    };
  }

  const { rows } = await client.query(MISSING_PRIVILEGES_SQL, [role]);

  if (rows.length) {
    return {
      ...status,
      problem: `the role ${role} has no privileges for ${rows.map((object) => object.name as string).join(', ')}`,
      advice: 'fitgraph migrate',
    };
  }

  const { rows: policiesOfWrongRole } = await client.query(POLICIES_OF_WRONG_ROLE_SQL, [
    role,
    POLICY_NAMES,
  ]);

  if (policiesOfWrongRole.length) {
    const tables = [...new Set(policiesOfWrongRole.map(({ table }) => table as string))].join(', ');

    return {
      ...status,
      problem: `the policies of ${tables} do not apply to ${role} alone`,
      advice: 'fitgraph migrate',
    };
  }

  return status;
}

/**
 * Makes the requests of this process use the viewer role. Call this before the first request. If
 * the role cannot be used, warns, or throws with ROW_SECURITY=required.
 */
export async function activateViewerRole(
  { options, pool, sessionUsers }: Database,
  warn: (message: string) => void,
): Promise<void> {
  const { rowSecurity = 'on' } = options;

  if (rowSecurity === 'off') return;
  const status = await checkRowSecurityStatus(pool);

  if (!status) return;
  const { role, problem, advice } = status;

  if (problem === undefined) sessionUsers.role = role;
  else {
    const warning = `row-level security cannot protect the reads of requests: ${problem}. Run: ${advice}`;

    if (rowSecurity === 'required') throw new ConfigError(`ROW_SECURITY=required, but ${warning}`);
    warn(warning);
  }
}

/** Rejects a database whose row-level security hides all rows from the server's own role. */
export async function rejectIfRowsAreHidden(client: ClientBase): Promise<void> {
  const ownership = await findOwnership(client);

  if (!ownership || !(await client.query(ROW_SECURITY_ACTIVE_SQL)).rows[0].some) return;
  const { owner, currentUser } = ownership;

  throw new ConfigError(
    `DATABASE_URL: row-level security shows ${currentUser} no rows, because the tables belong to ${owner}: GRANT ${escapeIdentifier(owner)} TO ${escapeIdentifier(currentUser)}`,
  );
}
