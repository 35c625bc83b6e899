/** Interface of the trace of one request (https://opentelemetry.io/docs/concepts/signals/traces/), implemented by `telemetry/tracing.ts`. */
export interface Trace {
  /** Records a span of a GraphQL operation while `work` runs. */
  operation<T>(type: string, name: string, work: () => Promise<T> | T): Promise<T>;
  /** Starts a span of a statement; the returned function ends it, with the number of rows unless the statement failed. */
  statement(text: string): (rows?: number) => void;
  /** Records a span of a statement that has just ended after `ms` milliseconds. */
  written(text: string, ms: number): void;
}
