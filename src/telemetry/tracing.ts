/**
 * Traces for OpenTelemetry: a request, the operations that it runs, the statements that they send. Loaded only where somebody collects them. What is
 * told of a request is what the log tells too: no query, no variable, no value of a statement.
 */
import type { IncomingMessage } from 'node:http';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  defaultTextMapGetter,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Trace } from '../platform/trace';
import { VERSION } from '../platform/version';

const MAX_STATEMENT_TEXT = 2_000;
/** Who collects them may be away when the server stops. */
const FLUSH_MS = 1_000;

const propagator = new W3CTraceContextPropagator();

/** `INSERT INTO "workout" …` → `INSERT workout`. */
const summaryOf = (text: string): string => {
  const [, verb = 'statement', table = ''] = /^\s*(\w{1,20})\b[^"]{0,100}(?:"(\w{1,63})")?/.exec(text) ?? [];
  return table ? `${verb} ${table}` : verb;
};

export interface Answer {
  method: string;
  route: string;
  status: number;
  attributes: Record<string, string | number | undefined>;
}

export class RequestTrace implements Trace {
  private current: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    around: Context,
  ) {
    this.current = trace.setSpan(around, span);
  }

  async operation<T>(type: string, name: string, work: () => Promise<T> | T): Promise<T> {
    const around = this.current;
    const attributes = { 'graphql.operation.type': type, 'graphql.operation.name': name };
    const span = this.tracer.startSpan(`${type} ${name}`, { attributes }, around);
    this.current = trace.setSpan(around, span);
    try {
      return await work();
    } finally {
      this.current = around;
      span.end();
    }
  }

  statement(text: string): (rows?: number) => void {
    const summary = summaryOf(text);
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary, 'db.query.text': text.slice(0, MAX_STATEMENT_TEXT) };
    const span = this.tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes }, this.current);
    return (rows) => {
      if (rows === undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      else span.setAttribute('db.response.returned_rows', rows);
      span.end();
    };
  }

  /** Sequelize tells afterwards, and its texts may hold values. */
  written(text: string, ms: number): void {
    const summary = summaryOf(text.replace(/^Executed \([\w-]{1,60}\): /, ''));
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    const now = Date.now();
    this.tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes, startTime: now - ms }, this.current).end(now);
  }

  end({ method, route, status, attributes }: Answer): void {
    this.span.updateName(`${method} ${route}`);
    this.span.setAttributes({ 'http.request.method': method, 'http.route': route, 'http.response.status_code': status, ...attributes });
    if (status >= 500) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }
}

export class Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;

  /** What else there is to say, such as headers and the share of requests, is read from OTEL_… by the SDK itself. */
  constructor({ endpoint, service }: { endpoint: string; service: string }) {
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.version': VERSION }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.tracer = this.provider.getTracer('fitgraph', VERSION);
  }

  /** Undefined for a request that is not looked at: whoever called may have decided so (`traceparent`), or the share that is. */
  begin({ headers }: IncomingMessage): RequestTrace | undefined {
    const around = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const span = this.tracer.startSpan('request', { kind: SpanKind.SERVER }, around);
    return span.isRecording() ? new RequestTrace(this.tracer, span, around) : undefined;
  }

  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FLUSH_MS)));
    await Promise.race([this.provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}
