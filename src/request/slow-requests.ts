/** The latest slow requests of this process, for the pages of superusers. */
import type { ServerResponse } from 'node:http';

const MIN_MS = 500;
const MAX_REQUESTS = 50;

/** Whether a response lasts as long as the client listens, so that its duration says nothing. */
export const isEventStream = (response: ServerResponse) =>
  String(response.getHeader('content-type') ?? '').startsWith('text/event-stream');

export interface CompletedRequest {
  /** Request id, as in the log. */
  id: string;
  method: string;
  path: string;
  operation: string | undefined;
  ms: number;
  statements: number;
}

export class SlowRequests {
  /** Newest first, with the time of the end in milliseconds since 1970. */
  readonly latest: (CompletedRequest & { endedAt: number })[] = [];

  record(request: CompletedRequest): void {
    if (request.ms < MIN_MS) return;
    this.latest.unshift({ ...request, endedAt: Date.now() });
    this.latest.length = Math.min(this.latest.length, MAX_REQUESTS);
  }
}
