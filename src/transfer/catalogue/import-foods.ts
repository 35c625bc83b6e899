/**
 * Imports foods of a public table in batches, each in a transaction of its own, so that an
 * interrupted import can be repeated: rows are identified by their source and id there, and a batch
 * writes only what has changed.
 */
import type { Client } from 'pg';
import type { Database } from '../../database/connection';
import { failImport } from '../dump';
import { refusalReasonOf, type RefusalReason, type SourceFood } from './food';
import { FOOD_DATA_CENTRAL, foodOfFoodDataCentral } from './food-data-central';
import { foodOfProduct, OPEN_FOOD_FACTS } from './open-food-facts';
import { elementsOf, hasWrongBytes, linesOf, type TextRecord } from './records';
import type { CatalogueSource } from './source';
import { cellsOf, delimiterOf, foodOfRow, mapColumns } from './table';

const ROWS_PER_BATCH = 5_000;

/** Serializes imports of foods. */
const IMPORT_LOCK = 'fitgraph.import-foods';

export interface FoodImportOptions {
  /** Codes of languages in the order of preference; names in others are not imported. */
  languages: readonly string[];
  mapping: readonly string[];

  /** Source of a table of one's own. */
  sourceName?: string;
  isDryRun: boolean;
  reportProgress(readCount: number): void;
  reportRefusal(refusal: Refusal): void;
}

export interface Refusal {
  number: number;
  reason: RefusalReason;
  sourceId: string;
  name: string;
}

export interface FoodImportReport {
  read: number;
  created: number;
  updated: number;
  unchanged: number;

  /** Rows that a person has edited here and that differ from the source. */
  kept: number;
  refused: Map<RefusalReason, number>;
}

interface FoodTable {
  name: string;
  author: string;
  license: { shortName: string; fullName: string; url: string };
}
