/**
 * Stores what GraphiQL does not keep for a tab: the view of the result and the statistics of the
 * last run.
 */
import { useSyncExternalStore } from 'react';
import type { ChartSettings, ResultViewName } from '../answer/settings';
import { DEFAULT_ARRANGEMENT, type TableArrangement } from '../answer/arrangement';
import type { DisplayMassUnit } from '../answer/mass-units';

/** Request and response statistics of a run. */
export interface RunReport {
  request: {
    query: string;
    variables?: Readonly<Record<string, unknown>>;
    operationName?: string | null;
  };

  /** Headers that were sent, including those of the headers editor. Kept only in memory. */
  headers: Readonly<Record<string, string>>;
  status: number;
  durationMs: number;
  responseBytes: number;

  /** Charged cost. Absent if the server does not report it. */
  cost?: number;
  statementCount?: number;
}

export interface ViewState {
  view: ResultViewName;

  /** Path of the list in the table. Absent for the default list. */
  listPath?: string;
  chart?: ChartSettings;
  arrangement: TableArrangement;

  /** Unit of masses. Absent for the units of the response. */
  massUnit?: DisplayMassUnit;
  lastRun?: RunReport;
}

const INITIAL_VIEW_STATE: ViewState = { view: 'tree', arrangement: DEFAULT_ARRANGEMENT };

class ViewStateStore {
  private readonly stateByTabId = new Map<string, ViewState>();
  private readonly listeners = new Set<() => void>();
  private runCount = 0;
  activeTabId = '';

  readonly stateOf = (tabId: string): ViewState =>
    this.stateByTabId.get(tabId) ?? INITIAL_VIEW_STATE;

  update(tabId: string, changes: Partial<ViewState>): void {
    this.stateByTabId.set(tabId, { ...this.stateOf(tabId), ...changes });
    for (const listener of this.listeners) listener();
  }

  /**
   * Begins a run in the active tab. It is abandoned, and its response discarded, when a newer run
   * begins or another tab becomes active.
   */
  beginRun() {
    const tabId = this.activeTabId;
    const runNumber = (this.runCount += 1);

    return {
      isAbandoned: () => this.activeTabId !== tabId || this.runCount !== runNumber,
      storeReport: (run: RunReport) => this.update(tabId, { lastRun: run }),
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export const viewStateStore = new ViewStateStore();

export const useViewState = (tabId: string): ViewState =>
  useSyncExternalStore(viewStateStore.subscribe, () => viewStateStore.stateOf(tabId));
