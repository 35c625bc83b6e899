/** Receives the results of the checks of `fitgraph doctor`. */
export interface DiagnosticReporter {
  ok(topic: string, text: string): void;
  warn(topic: string, text: string, advice: string): void;
  fail(topic: string, text: string, advice?: string): void;
}
