/** Receives the results of the checks of `fitgraph doctor`. */
export interface Report {
  ok(about: string, text: string): void;
  warn(about: string, text: string, advice: string): void;
  fail(about: string, text: string, advice?: string): void;
}
