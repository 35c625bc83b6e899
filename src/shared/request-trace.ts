/**
 * The trace of one request (https://opentelemetry.io/docs/concepts/signals/traces/), implemented by
 * `telemetry/tracing.ts`.
 */
export interface RequestTrace {
  traceOperation<T>(type: string, name: string, callback: () => Promise<T> | T): Promise<T>;

  /**
   * Starts a span of an SQL statement. The returned function ends the span. Its argument is the
   * number of rows; it is absent if the statement failed.
   */
  beginStatementSpan(text: string): (rows?: number) => void;

  /** Records the span of an SQL statement that has just ended after `ms` milliseconds. */
  recordStatementSpan(text: string, ms: number): void;
}
