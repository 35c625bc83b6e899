/**
 * Derived-value cache: values computed from a user's rows, valid until a row of this user or of a
 * public table changes. Each request validates the user's entries once, with one SQL statement, so
 * that reads after writes are correct on every server instance.
 */
import { LRUCache } from 'lru-cache';
import { isCatalogueOutdatedSql } from './catalogue-cache';
import { MAX_SNAPSHOT_AGE_MS } from './change-log';
import type { Context, DerivedValues } from '../context';

const MAX_CACHED_OWNERS = 10_000;
const MAX_CACHED_VALUES = 2_000;

/** Maximum number of objects in all cached values, at 350 bytes each on average. */
const MAX_CACHED_OBJECTS = 200_000;

/**
 * Version of the data on which a user's cached values depend: the user's rows and all public rows.
 */
interface DataVersion {
  /** Time just after `snapshot` was taken, as returned by `performance.now()`. */
  snapshotTakenAt: number;
  snapshot: string;

  /** Value of `CatalogueCache.generation` when the snapshot was taken. */
  catalogueGeneration: number;
  versionNumber: number;
}

interface PromiseCache<K, T> {
  get(key: K): Promise<T> | undefined;
  set(key: K, value: Promise<T>): unknown;
  delete(key: K): unknown;
}

/**
 * Request coalescing: concurrent requests share one computation. If it fails, for example because
 * its client has disconnected, each of the others computes the value itself.
 */
function coalesceComputation<K, T>(
  values: PromiseCache<K, T>,
  key: K,
  compute: () => Promise<T> | T,
): Promise<T> {
  const pendingValue = values.get(key);

  if (pendingValue) return pendingValue.catch(compute);
  const value = Promise.resolve(compute());

  values.set(key, value);
  value.catch(() => values.delete(key));
  return value;
}

export class DerivedValueCache implements DerivedValues {
  private readonly versions: LRUCache<number, DataVersion>;

  /**
   * Values by data version number, API (GraphQL or REST) and name. Values of outdated versions are
   * no longer read and are eventually evicted.
   */
  private readonly values: LRUCache<string, Promise<unknown>>;
  private lastVersionNumber = 0;

  constructor({ maxOwners = MAX_CACHED_OWNERS, maxValues = MAX_CACHED_VALUES } = {}) {
    this.versions = new LRUCache({ max: maxOwners, ttl: MAX_SNAPSHOT_AGE_MS });
    this.values = new LRUCache({
      max: maxValues,
      maxSize: MAX_CACHED_OBJECTS,
      sizeCalculation: () => 1,
    });
  }

  get size(): { versions: number; values: number; objects: number } {
    return {
      versions: this.versions.size,
      values: this.values.size,
      objects: this.values.calculatedSize,
    };
  }

  /**
   * Reads a value from the cache or computes it, at most once per request until the request writes.
   * A request that started before the data version was determined bypasses the cache: it may have
   * read older data, so its value would be cached for the wrong version.
   */
  async getOrCompute<T extends object>(
    name: string,
    ownerId: number,
    context: Context,
    compute: () => Promise<T> | T,
  ): Promise<T> {
    const computeOnce = (computeValue = compute) =>
      coalesceComputation(
        context.loaders.derivedValuesByName as Map<string, Promise<T>>,
        name,
        computeValue,
      );

    // Requests with an access token bypass the cache, because cached values are computed from all
    // rows of the owner, also from rows that the token may not read.
    if (context.viewer?.scopes) return computeOnce();
    // Transactions bypass the cache: values computed from their uncommitted rows must not reach
    // other requests.
    if (context.session.isInTransaction) return computeOnce();
    const version = await context.loaders
      .getOrCreate<DataVersion>(this, (ids) => this.currentVersionsOf(ids as number[], context))
      .load(ownerId);

    if (version.snapshotTakenAt >= context.request.startedAt) return computeOnce();

    return computeOnce(() =>
      this.getCachedOrCompute(`${version.versionNumber} ${context.api} ${name}`, compute),
    );
  }

  private getCachedOrCompute<T extends object>(
    key: string,
    compute: () => Promise<T> | T,
  ): Promise<T> {
    const pendingValue = coalesceComputation(
      this.values as LRUCache<string, Promise<T>>,
      key,
      compute,
    );

    // `LRUCache.set` ignores a new size if the value of the entry is the same, so the entry is
    // deleted first.
    const updateSize = (size: number) => {
      if (this.values.peek(key) === pendingValue && this.values.delete(key)) {
        this.values.set(key, pendingValue, { size });
      }
    };

    pendingValue.then(
      (value) => value instanceof LazyDerivedValue && (value.onObjectCountChange ??= updateSize),
      () => undefined,
    );

    return pendingValue;
  }

  private async currentVersionsOf(
    ownerIds: readonly number[],
    { session, services: { catalogue } }: Context,
  ): Promise<DataVersion[]> {
    const cachedVersions = ownerIds.map((id) => this.versions.get(id));
    const { generation, snapshot: catalogueSnapshot, tables } = catalogue;
    const rows = await session.query(
      `SELECT pg_current_snapshot()::text AS "snapshot", k."snapshot" IS NOT NULL AND NOT EXISTS (
         SELECT FROM "change" c WHERE c."user_id" = k."id"
           AND c."transaction" >= pg_snapshot_xmin(k."snapshot")
           AND NOT pg_visible_in_snapshot(c."transaction", k."snapshot")
       ) AND NOT EXISTS (
         SELECT FROM "table_change" c
           WHERE c."transaction" >= pg_snapshot_xmin(k."snapshot")
             AND NOT pg_visible_in_snapshot(c."transaction", k."snapshot")
       ) AS "isSameSnapshot", ${isCatalogueOutdatedSql('$3', '$4')} AS "isCatalogueOutdated"
       FROM unnest($1::int[], $2::pg_snapshot[]) WITH ORDINALITY AS k("id", "snapshot", "position")
       ORDER BY k."position"`,
      [
        ownerIds,
        cachedVersions.map((version) => version?.snapshot ?? null),
        catalogueSnapshot,
        tables,
      ],
    );

    if (rows[0]!.isCatalogueOutdated) await catalogue.reload();

    return ownerIds.map((id, index) => {
      const { snapshot, isSameSnapshot } = rows[index] as {
        snapshot: string;
        isSameSnapshot: boolean;
      };

      if (isSameSnapshot && cachedVersions[index]!.catalogueGeneration === generation) {
        return cachedVersions[index]!;
      }

      const version = {
        snapshotTakenAt: performance.now(),
        snapshot,
        catalogueGeneration: generation,
        versionNumber: (this.lastVersionNumber += 1),
      };

      this.versions.set(id, version);
      return version;
    });
  }
}

/**
 * A cached value with components that are computed on demand and cached together with the value.
 */
export abstract class LazyDerivedValue {
  private readonly componentsByName = new Map<string, Promise<unknown>>();
  private readonly componentsBySelection = new WeakMap<object, Promise<unknown>>();
  private objectCount = 1;

  /**
   * Called whenever a component has been computed, with the number of objects of the whole value.
   */
  onObjectCountChange?: (objectCount: number) => void;

  /** `containingValue` is the value of which the new one is a component. */
  constructor(private readonly containingValue?: LazyDerivedValue) {}

  /**
   * Computes a component at most once. `key` is a name, or the `selectionCacheKey` of a
   * selection.
   */
  protected computeOnce<T>(key: string | object, compute: () => Promise<T>): Promise<T> {
    const components = (
      typeof key === 'string' ? this.componentsByName : this.componentsBySelection
    ) as Map<unknown, Promise<T>>;

    return coalesceComputation(components, key, async () => {
      const component = await compute();

      this.addToObjectCount(Array.isArray(component) ? component.length + 1 : 1);
      return component;
    });
  }

  /** Adds to the object count of the value, which counts towards the size limit of the cache. */
  protected addToObjectCount(count: number): void {
    if (this.containingValue) return this.containingValue.addToObjectCount(count);
    this.objectCount += count;
    this.onObjectCountChange?.(this.objectCount);
  }
}
