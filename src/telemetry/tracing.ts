/**
 * OpenTelemetry tracing (https://opentelemetry.io/docs/concepts/signals/traces/): spans for
 * requests, GraphQL operations and SQL statements, without query strings, variables or parameters.
 * Loaded only if tracing is enabled.
 */
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
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
import type { RequestTrace } from '../shared/request-trace';
import { VERSION } from '../shared/version';

const MAX_STATEMENT_LENGTH = 2_000;
const MAX_OPERATION_NAME_LENGTH = 200;

/**
 * Bounds how long shutdown waits for the last spans to be sent, because the collector may be
 * unavailable.
 */
const FLUSH_TIMEOUT_MS = 1_000;

const propagator = new W3CTraceContextPropagator();

/** Summarizes a statement: `INSERT INTO "workout" …` becomes `INSERT workout`. */
const summarizeStatement = (text: string): string => {
  const [, verb = 'statement', table = ''] =
    /^\s*(\w{1,20})\b[^"]{0,100}(?:"(\w{1,63})")?/.exec(text) ?? [];

  return table ? `${verb} ${table}` : verb;
};

interface CompletedSpan {
  method: string;
  route: string;
  status: number;
  attributes: Record<string, string | number | undefined>;
}

class OpenTelemetryTrace implements RequestTrace {
  private activeContext: Context;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    parent: Context,
  ) {
    this.activeContext = trace.setSpan(parent, span);
  }

  async traceOperation<T>(type: string, name: string, callback: () => Promise<T> | T): Promise<T> {
    const parent = this.activeContext;
    const shortName = name.slice(0, MAX_OPERATION_NAME_LENGTH);
    const attributes = { 'graphql.operation.type': type, 'graphql.operation.name': shortName };
    const span = this.tracer.startSpan(`${type} ${shortName}`, { attributes }, parent);

    this.activeContext = trace.setSpan(parent, span);

    try {
      return await callback();
    } finally {
      this.activeContext = parent;
      span.end();
    }
  }

  beginStatementSpan(text: string): (rowCount?: number) => void {
    const summary = summarizeStatement(text);
    const attributes = {
      'db.system.name': 'postgresql',
      'db.query.summary': summary,
      'db.query.text': text.slice(0, MAX_STATEMENT_LENGTH),
    };
    const span = this.tracer.startSpan(
      summary,
      { kind: SpanKind.CLIENT, attributes },
      this.activeContext,
    );

    return (rowCount) => {
      if (rowCount === undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      else span.setAttribute('db.response.returned_rows', rowCount);
      span.end();
    };
  }

  /**
   * Records the span of a completed Sequelize statement. It contains only a summary, because the
   * text may contain values.
   */
  recordStatementSpan(text: string, ms: number): void {
    const summary = summarizeStatement(text.replace(/^Executed \([\w-]{1,60}\): /, ''));
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
    const now = Date.now();

    this.tracer
      .startSpan(
        summary,
        { kind: SpanKind.CLIENT, attributes, startTime: now - ms },
        this.activeContext,
      )
      .end(now);
  }

  end({ method, route, status, attributes }: CompletedSpan): void {
    this.span.updateName(`${method} ${route}`);
    this.span.setAttributes({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...attributes,
    });
    if (status >= 500) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }
}

export class Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;

  /**
   * The OpenTelemetry SDK reads further settings, such as headers and sampling, from the
   * environment variables OTEL_….
   */
  constructor({ endpoint, service }: { endpoint: string; service: string }) {
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });

    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.version': VERSION }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.tracer = this.provider.getTracer('fitgraph', VERSION);
  }

  /**
   * Starts the span of a request, unless the sampler or the client (header `traceparent`) excludes
   * it from sampling.
   */
  beginTrace({ headers }: Pick<IncomingMessage, 'headers'>): OpenTelemetryTrace | undefined {
    const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const span = this.tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);

    return span.isRecording() ? new OpenTelemetryTrace(this.tracer, span, parent) : undefined;
  }

  async stop(): Promise<void> {
    const timeout = sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false });

    await Promise.race([this.provider.shutdown().catch(() => undefined), timeout]);
  }
}
