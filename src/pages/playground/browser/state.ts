/** What the page knows beside GraphiQL: of each tab how its answer is looked at, and what came of its last run. */
import { useSyncExternalStore } from 'react';
import type { ChartSettings, View } from '../answer/settings';
import { PLAIN, type Arrangement } from '../answer/sheet';
import type { Unit } from '../answer/units';
import type { Run } from './fetcher';

export interface Look {
  view: View;
  /** Name of the list that is shown; undefined for the main one. */
  list?: string;
  chart?: ChartSettings;
  arrangement: Arrangement;
  /** In which masses are shown; undefined: as they came. */
  unit?: Unit;
  run?: Run;
}

const NEW: Look = { view: 'tree', arrangement: PLAIN };

class Looks {
  private readonly looks = new Map<string, Look>();
  private readonly listeners = new Set<() => void>();
  /** The tab that is in front. */
  active = '';

  readonly of = (tab: string): Look => this.looks.get(tab) ?? NEW;

  change(tab: string, changed: Partial<Look>): void {
    this.looks.set(tab, { ...this.of(tab), ...changed });
    for (const listener of this.listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export const looks = new Looks();

export const useLook = (tab: string): Look => useSyncExternalStore(looks.subscribe, () => looks.of(tab));
