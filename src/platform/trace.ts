/** What is told of one request to whoever collects traces (`telemetry/tracing.ts`); absent where nobody does. */
export interface Trace {
  /** Of an operation, until its work is over. */
  operation<T>(type: string, name: string, work: () => Promise<T> | T): Promise<T>;
  /** Of a statement that is sent now; to be called when it is over, with the number of its rows unless it failed. */
  statement(text: string): (rows?: number) => void;
  /** Of one that was sent so many milliseconds ago. */
  written(text: string, ms: number): void;
}
