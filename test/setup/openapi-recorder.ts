/** Records every JSON response of REST during a test and checks it against the OpenAPI document. */
import type { RequestListener, ServerResponse } from 'node:http';
import type { OpenApiDocument } from '../../src/rest/openapi/document';
import { API_BASE_PATH } from '../../src/rest/routes';
import { normalizeTarget } from '../../src/server/request-target';
import { Conformance } from '../rest/conformance';

interface RecordedResponse {
  method: string;
  url: string;
  status: number;
  text: string;
}

/** Responses with the document itself are not checked: they have a format of their own. */
const DOCUMENT = /^\/schema(?:[./?]|$)/;

export class ResponseRecorder {
  private recorded: RecordedResponse[] = [];
  private conformance?: Conformance;

  /** Wraps a listener so that its responses are recorded. */
  recordingResponsesOf(listener: RequestListener): RequestListener {
    return (request, response) => {
      const url = normalizeTarget(request.url!);

      if (url.startsWith(`${API_BASE_PATH}/`) && !DOCUMENT.test(url.slice(API_BASE_PATH.length))) {
        this.record(request.method!, url, response);
      }

      listener(request, response);
    };
  }

  private record(method: string, url: string, response: ServerResponse): void {
    const end = response.end.bind(response) as (...parts: unknown[]) => ServerResponse;

    response.end = ((...parts: unknown[]) => {
      const [text] = parts;

      // HTML pages are not JSON.
      if (typeof text === 'string' && !text.startsWith('<')) {
        this.recorded.push({ method, url, status: response.statusCode, text });
      }

      return end(...parts);
    }) as typeof response.end;
  }

  /** Returns how the responses since the last call differ from the document. */
  async schemaViolations(read: () => Promise<OpenApiDocument>): Promise<string[]> {
    if (this.recorded.length === 0) return [];
    this.conformance ??= Conformance.with(await read());
    const responses = this.recorded.splice(0);
    const found = responses.flatMap(({ method, url, status, text }) =>
      this.conformance!.problemsAt(
        method,
        url.slice(API_BASE_PATH.length),
        status,
        JSON.parse(text),
      ).map((problem) => `${method} ${url}: ${problem}`),
    );

    return [...new Set(found)];
  }
}
