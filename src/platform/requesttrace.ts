/** Interface of the trace of one request (https://opentelemetry.io/docs/concepts/signals/traces/), implemented by `telemetry/tracing.ts`. */
export interface RequestTrace {
  traceOperation<T>(type: string, name: string, callback: () => Promise<T> | T): Promise<T>;
  /** Starts a span of an SQL statement and returns a function that ends the span. Pass it the number of rows, or nothing if the statement failed. */
  beginStatementSpan(text: string): (rows?: number) => void;
  /** Records a span for an SQL statement that has just ended and took `ms` milliseconds. */
  recordStatementSpan(text: string, ms: number): void;
}
