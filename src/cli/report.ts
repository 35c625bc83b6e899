/** Receives the results of the checks of `fitgraph doctor`. */
export interface Report {
  ok(about: string, said: string): void;
  warn(about: string, said: string, advice: string): void;
  fail(about: string, said: string, advice?: string): void;
}
