/**
 * In-memory index for substring search in the names of a large public table: a search of 100,000 names takes a millisecond, in PostgreSQL more than
 * ten. Each search checks in the database whether the table has changed, so that results are never stale.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import type { DatabaseSession } from '../../database/session';
import { publishedRowConditions } from '../access/access';
import { MAX_SNAPSHOT_AGE_MS, hasTableChangedSql } from '../changes/changelog';
import { createParameterBinder, whereClause } from '../access/conditions';
import { fieldOf, type Entity } from '../model/fields';
import type { NotificationListener } from '../changes/listener';
import { fieldSqlExpression, fromClause } from '../sql/expressions';
import { resourceOf } from '../model/registry';
import { caseFoldedExpression } from '../sql/textsearch';

const NOTIFICATION_CHANNEL = 'fitgraph_names';
/** Maximum number of names in the index. A larger table is not indexed. */
const MAX_INDEXED_NAMES = 500_000;
/** Pause after a rebuild of the index, as a multiple of the duration of the rebuild. */
const REBUILD_PAUSE_FACTOR = 10;
/** Pause before the next read of a table that has no index, because it has more than MAX_INDEXED_NAMES or could not be read. */
const OVERSIZED_TABLE_PAUSE_MS = 3_600_000;
/** Separator of names in the indexed text. PostgreSQL strings and search terms cannot contain the NUL character. */
const NAME_SEPARATOR = '\0';

export interface NameMatch {
  id: number;
  name: string;
}

/** The names of a table in a PostgreSQL snapshot, sorted by name, then by id. The arrays have one element per name. */
interface IndexedNames {
  snapshot: string;
  /** Time at which the names were read from the table, as returned by `performance.now()`. */
  readAt: number;
  ids: Int32Array;
  /** Values of the field by which searches are restricted, such as the language id. */
  filterValues: Int32Array;
  names: string[];
  /** All names, case-folded by the SQL function `search_fold`, joined by NAME_SEPARATOR. */
  joinedNames: string;
  /** For each name, the offset in `joinedNames` at which the next name starts. */
  nextNameOffsets: Int32Array;
}

export class NameIndex {
  private readonly tableName: string;
  private indexedNames?: IndexedNames;
  private lastReadPromise: Promise<void> = Promise.resolve();
  /** A scheduled read of the table that has not started yet; undefined if there is none. */
  private scheduledRead?: Promise<void>;
  private readonly stopController = new AbortController();
  /** Earliest time at which the table may be read again, as returned by `performance.now()`. */
  private nextReadAt = 0;

  constructor(
    private readonly database: Database,
    private readonly entity: Entity,
    listener: NotificationListener,
    private readonly log: Logger,
  ) {
    this.tableName = resourceOf(entity)!.table;
    listener.registerHandler(NOTIFICATION_CHANNEL, {
      onNotification: (table) => {
        if (table === this.tableName) this.scheduleRead();
      },
      onMissedNotifications: () => this.scheduleRead(),
    });
  }

  /**
   * Builds the name index. If the table is unreadable, for example because a page is damaged, the server starts nevertheless and searches in the
   * database.
   */
  start(): Promise<void> {
    return this.readNames().catch(this.logFailure);
  }

  stop(): void {
    this.stopController.abort();
  }

  get nameCount(): number {
    return this.indexedNames?.names.length ?? 0;
  }

  /**
   * Finds up to `maxMatches` rows whose names contain a substring, sorted by name. The field that restricts searches (such as the language) must have
   * one of `filterValues`. Returns undefined if the caller must search the database instead: after a change of the table until the index is rebuilt,
   * and for a table without an index, such as one with more than MAX_INDEXED_NAMES.
   */
  async find(
    substring: string,
    filterValues: readonly number[],
    maxMatches: number,
    session: DatabaseSession,
  ): Promise<NameMatch[] | undefined> {
    const { indexedNames } = this;
    if (indexedNames && performance.now() - indexedNames.readAt < MAX_SNAPSHOT_AGE_MS) {
      const [state] = await session.query(`SELECT search_fold($1) AS "part", ${hasTableChangedSql('$2', '$3')} AS "changed"`, [
        substring,
        [this.tableName],
        indexedNames.snapshot,
      ]);
      if (!state!.changed) return searchIndex(indexedNames, state!.part, new Set(filterValues), maxMatches);
    }
    this.scheduleRead();
    return undefined;
  }

  /**
   * Schedules another read of the indexed table, which starts after a pause once the current read has ended. Does nothing if a read is already
   * scheduled.
   */
  private scheduleRead(): void {
    const { signal } = this.stopController;
    this.scheduledRead ??= this.lastReadPromise = this.lastReadPromise
      .then(() => sleep(Math.max(0, this.nextReadAt - performance.now()), undefined, { ref: false, signal }))
      .then(() => {
        this.scheduledRead = undefined;
        return this.readNames();
      })
      .catch(this.logFailure);
  }

  private readonly logFailure = (error: unknown): void => {
    if (!this.stopController.signal.aborted)
      this.log.error({ err: error, table: this.tableName }, 'the names of a table could not be read');
  };

  private async readNames(): Promise<void> {
    const startedAt = performance.now();
    try {
      this.indexedNames = await this.database.withoutTimeouts(async (client) => {
        const { searchFieldName, filterFieldName } = resourceOf(this.entity)!.nameIndexFields!;
        const nameField = fieldOf(this.entity, searchFieldName);
        const columns = [
          fieldSqlExpression(fieldOf(this.entity, filterFieldName), 't'),
          fieldSqlExpression(nameField, 't'),
          caseFoldedExpression(nameField, 't'),
        ];
        const { bind, values } = createParameterBinder();
        // The snapshot is taken before the read. A change in between is not in the snapshot, so it causes another read.
        const { rows: snapshots } = await client.query('SELECT pg_current_snapshot()::text AS "snapshot"');
        const { rows } = await client.query({
          text: `SELECT t."id", ${columns.join(', ')} ${fromClause(this.entity)}${whereClause(publishedRowConditions(this.entity), 't', bind)}
            ORDER BY ${fieldSqlExpression(nameField, 't')}, t."id" LIMIT ${MAX_INDEXED_NAMES + 1}`,
          values,
          rowMode: 'array',
        });
        // The selected columns are not nullable, so a row with a null is damaged and is skipped.
        const completeRows = (rows as (NameRow | null[])[]).filter((row): row is NameRow => row.every((value) => value !== null));
        return rows.length > MAX_INDEXED_NAMES ? undefined : createIndex(snapshots[0].snapshot, completeRows);
      });
    } finally {
      const endedAt = performance.now();
      this.nextReadAt = endedAt + (this.indexedNames ? REBUILD_PAUSE_FACTOR * (endedAt - startedAt) : OVERSIZED_TABLE_PAUSE_MS);
    }
  }
}

type NameRow = [id: number, filterValue: number, name: string, folded: string];

function createIndex(snapshot: string, rows: readonly NameRow[]): IndexedNames {
  const [ids, filterValues, ends] = [new Int32Array(rows.length), new Int32Array(rows.length), new Int32Array(rows.length)];
  const names: string[] = [];
  const foldedNames: string[] = [];
  let nextNameOffset = 0;
  rows.forEach(([id, filterValue, name, text], row) => {
    ids[row] = id;
    filterValues[row] = filterValue;
    names.push(name);
    foldedNames.push(text);
    ends[row] = nextNameOffset += text.length + NAME_SEPARATOR.length;
  });
  return {
    snapshot,
    readAt: performance.now(),
    ids,
    filterValues,
    names,
    joinedNames: foldedNames.join(NAME_SEPARATOR),
    nextNameOffsets: ends,
  };
}

function searchIndex(
  { ids, filterValues, names, joinedNames, nextNameOffsets }: IndexedNames,
  substring: string,
  wantedFilterValues: ReadonlySet<number>,
  maxMatches: number,
): NameMatch[] {
  const matches: NameMatch[] = [];
  let row = 0;
  for (
    let position = joinedNames.indexOf(substring);
    position >= 0 && matches.length < maxMatches;
    position = joinedNames.indexOf(substring, nextNameOffsets[row])
  ) {
    while (position >= nextNameOffsets[row]!) row += 1;
    if (wantedFilterValues.has(filterValues[row]!)) matches.push({ id: ids[row]!, name: names[row]! });
  }
  return matches;
}
