/**
 * One row in the form of a data dump: foreign keys are plain ids, many-to-many fields are lists of
 * ids.
 */
export interface SeedRow {
  model: string;
  pk: number | string;
  fields: Record<string, unknown>;
}

/**
 * Collects rows and numbers them per model from 1, so that a child can be given the id of the
 * parent added before it.
 */
export class RowList {
  readonly rows: SeedRow[] = [];
  private readonly last = new Map<string, number>();

  add(model: string, fields: Record<string, unknown>): number {
    const pk = (this.last.get(model) ?? 0) + 1;

    this.last.set(model, pk);
    this.rows.push({ model, pk, fields });
    return pk;
  }
}

/**
 * All seeded catalogue rows share one date: a date taken from the clock would make two runs differ.
 */
export const CATALOGUE_DATE = '2026-01-01';
export const CATALOGUE_AUTHOR = 'Fitgraph';
export const DEFAULT_LICENSE = 2;
export const GERMAN = 1;
export const ENGLISH = 2;
