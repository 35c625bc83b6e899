/** State of each tab in addition to that of GraphiQL: the view of its result and the statistics of its last run. */
import { useSyncExternalStore } from 'react';
import type { ChartSettings, View } from '../answer/settings';
import { PLAIN, type Arrangement } from '../answer/sheet';
import type { Unit } from '../answer/units';
import type { Run } from './fetcher';

export interface Look {
  view: View;
  /** Name of the list that the table shows; undefined for the main one. */
  list?: string;
  chart?: ChartSettings;
  arrangement: Arrangement;
  /** Unit in which masses are shown; undefined for that of the response. */
  unit?: Unit;
  run?: Run;
}

const INITIAL_LOOK: Look = { view: 'tree', arrangement: PLAIN };

class Looks {
  private readonly looks = new Map<string, Look>();
  private readonly listeners = new Set<() => void>();
  /** Id of the active tab. */
  active = '';

  readonly of = (tab: string): Look => this.looks.get(tab) ?? INITIAL_LOOK;

  change(tab: string, changes: Partial<Look>): void {
    this.looks.set(tab, { ...this.of(tab), ...changes });
    for (const listener of this.listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export const looks = new Looks();

export const useLook = (tab: string): Look => useSyncExternalStore(looks.subscribe, () => looks.of(tab));
