/** Result of one check of `fitgraph doctor`. */
export interface Finding {
  state: 'ok' | 'warning' | 'failure';
  about: string;
  said: string;
  advice?: string;
}

export type Note = (finding: Finding) => void;
