/**
 * Readiness of this instance: whether it can serve at least some requests
 * (https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/). A fault
 * of the shared database, such as a full disk, only counts as degradation, because a load balancer
 * would otherwise remove all instances.
 */
import { allEntities, resourceOf } from '../engine/declare/registry';
import { readSchemaState } from '../database/compatibility';
import type { Database } from '../database/connection';
import { DatabaseUnavailable, errorCodeOf, isDatabaseUnavailableError } from '../database/errors';

const CHECK_INTERVAL_MS = 1_000;

/** Duration of a check after which the instance is "not ready". */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * Duration of a check above which the database counts as slow. Usually, it takes a few
 * milliseconds.
 */
const MAX_HEALTHY_CHECK_MS = 150;

/**
 * Number of rows that exceed PostgreSQL's minimum work_mem (64 kB). PostgreSQL writes them to a
 * temporary file, which fails if the disk is full.
 */
const ROWS_EXCEEDING_WORK_MEM = 5_000;

/**
 * Descriptions of faults under which some requests still work. The keys are label values of
 * metrics.
 */
export const DEGRADATIONS = {
  table_missing: 'a table is missing',
  not_migrated: 'the database is not migrated',
  disk_full: 'the database disk is full',
  read_only: 'the database is read-only',
  access_denied: 'the database denies access',
  slow: 'the database responds slowly',
  failing: 'the database check fails',
} as const;

export type Degradation = keyof typeof DEGRADATIONS;

/**
 * Degradations by error code of PostgreSQL
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const DEGRADATION_BY_ERROR_CODE: Record<string, Degradation> = {
  '53100': 'disk_full',
  '25006': 'read_only',
  '42501': 'access_denied',
};

export interface ReadinessState {
  /** Why no request can be served. A ready instance has none. */
  reason?: string;
  degradations: readonly Degradation[];
}

/**
 * The state after a newer version has migrated the database and dropped support for this one. It is
 * "not ready", because newer instances serve requests.
 */
const INCOMPATIBLE_SCHEMA_STATE: ReadinessState = {
  reason: 'a newer version has migrated the database and does not support this one',
  degradations: [],
};

const UNRESPONSIVE_STATE: ReadinessState = {
  reason: 'the database does not respond',
  degradations: [],
};

const UNREACHABLE_STATE: ReadinessState = {
  reason: 'the database cannot be reached',
  degradations: [],
};

/** SQL: whether the database is read-only, and whether one of the tables `$1` is missing. */
const FIND_DEGRADATIONS_SQL = `SELECT pg_is_in_recovery()
  OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  EXISTS (SELECT FROM unnest($1::text[]) AS t("name")
    WHERE to_regclass(quote_ident(t."name")) IS NULL) AS "isTableMissing"`;

/**
 * SQL: makes PostgreSQL write a temporary file, which fails if its disk is full. Both statements
 * are one query and thus one transaction, as SET LOCAL requires.
 */
const WRITE_TEMPORARY_FILE_SQL = `SET LOCAL work_mem = '64kB'; SELECT count(*)
  FROM generate_series(1, ${ROWS_EXCEEDING_WORK_MEM})`;

export class Readiness {
  private latestState: ReadinessState = { reason: 'the server is starting', degradations: [] };
  private isDraining = false;
  private isStopped = false;
  private timer?: NodeJS.Timeout;

  constructor(private readonly database: Database) {}

  /** Checks the readiness once and then periodically. */
  async start(): Promise<void> {
    await this.check();

    if (!this.isStopped) {
      this.timer = setTimeout(() => void this.start(), CHECK_INTERVAL_MS).unref();
    }
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** Reports "not ready" from now on, because the server is shutting down. */
  startDraining(): void {
    this.isDraining = true;
  }

  get state(): ReadinessState {
    if (this.isDraining) return { reason: 'the server is shutting down', degradations: [] };

    return this.latestState;
  }

  private async check(): Promise<void> {
    const timer = setTimeout(
      () => (this.latestState = UNRESPONSIVE_STATE),
      CHECK_TIMEOUT_MS,
    ).unref();

    try {
      const schema = await readSchemaState(this.database);

      if (schema === 'incompatible') this.latestState = INCOMPATIBLE_SCHEMA_STATE;
      else {
        this.latestState = { degradations: await this.findDegradations(schema === 'outdated') };
      }
    } catch (error) {
      // If the disk is full, PostgreSQL may reject new connections while others still work.
      const code = errorCodeOf(error instanceof DatabaseUnavailable ? error.cause : error);
      let degradation = DEGRADATION_BY_ERROR_CODE[code];

      if (!degradation && !isDatabaseUnavailableError(error)) degradation = 'failing';

      if (degradation) this.latestState = { degradations: [degradation] };
      else this.latestState = UNREACHABLE_STATE;
    } finally {
      clearTimeout(timer);
    }
  }

  private async findDegradations(isSchemaOutdated: boolean): Promise<Degradation[]> {
    const { pool } = this.database;
    const tables = allEntities().map((entity) => resourceOf(entity)!.table);
    const startedAt = performance.now();
    const [{ isReadOnly, isTableMissing }] = (await pool.query(FIND_DEGRADATIONS_SQL, [tables]))
      .rows;
    const isSlow = performance.now() - startedAt > MAX_HEALTHY_CHECK_MS;

    await pool.query(WRITE_TEMPORARY_FILE_SQL);
    const isActiveByDegradation: Record<
      Exclude<Degradation, 'disk_full' | 'access_denied' | 'failing'>,
      boolean
    > = {
      not_migrated: isSchemaOutdated,
      table_missing: isTableMissing,
      read_only: isReadOnly,
      slow: isSlow,
    };

    return (Object.keys(isActiveByDegradation) as (keyof typeof isActiveByDegradation)[]).filter(
      (name) => isActiveByDegradation[name],
    );
  }
}
