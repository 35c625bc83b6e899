/** Stores, for each tab of GraphiQL, the state that GraphiQL itself does not store: the view of the result and the statistics of the last run. */
import { useSyncExternalStore } from 'react';
import type { ChartSettings, ResultViewName } from '../answer/settings';
import { DEFAULT_ARRANGEMENT, type TableArrangement } from '../answer/arrangement';
import type { DisplayMassUnit } from '../answer/massunits';
import type { RunReport } from './fetcher';

export interface ViewState {
  view: ResultViewName;
  /** Path of the list that the table shows; undefined for the default list. */
  listPath?: string;
  chart?: ChartSettings;
  arrangement: TableArrangement;
  /** Unit in which masses are shown; undefined for the units of the response. */
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
   * Begins a run in the active tab. A run is abandoned when a newer one begins, because GraphiQL shows only the newer response, or when another tab
   * becomes active. The response to an abandoned run, or its network error, is discarded.
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
