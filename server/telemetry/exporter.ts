/**
 * Sends spans and measurements over OTLP/HTTP as JSON, and writes them to a file. Only this module
 * loads OpenTelemetry, and is itself loaded only while telemetry is on. Queues are bounded and sent
 * from timers, so that an unreachable collector does not affect requests.
 */
import { SpanKind, SpanStatusCode, TraceFlags, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import { openSink } from '../log/sink.ts';
import * as names from './names.ts';
import { metricAttributes } from './spans.ts';
import type { SpanRecord } from './spans.ts';
import type { Exporter, TelemetryOptions } from './contract.ts';

const SEND_EVERY_MS = 5000;
const MEASURE_EVERY_MS = 15_000;
const TIMEOUT_MS = 4000;
const MAX_QUEUED_SPANS = 4096;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** Creates the exporter; opens file and connections lazily and sends nothing yet. */
export async function createExporter(options: TelemetryOptions): Promise<Exporter> {
  const { version, clock, log } = options;
  const { endpoint, logFile } = options.config.telemetry;
  const { retentionDays } = options.config.logging;
  const file = await openSink({
    destination: { kind: 'file', path: logFile },
    retentionDays,
    clock,
  });
  const write = (line: object): void => file.write(`${JSON.stringify(line)}\n`);
  const watched = reportOnce((reason) =>
    log.warning('telemetry cannot be sent; requests continue', { endpoint, reason }),
  );
  const resource = resourceFromAttributes({ 'service.name': 'svc', 'service.version': version });
  const base = endpoint.endsWith('/') ? endpoint.slice(0, -1) : endpoint;
  const ids = { traceId: '', spanId: '' };
  const tracing = new BasicTracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    // The ids are already in use: the provider received them with the request.
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [
      new BatchSpanProcessor(
        watched(new OTLPTraceExporter({ url: `${base}/v1/traces`, timeoutMillis: TIMEOUT_MS })),
        {
          scheduledDelayMillis: SEND_EVERY_MS,
          exportTimeoutMillis: TIMEOUT_MS,
          maxQueueSize: MAX_QUEUED_SPANS,
        },
      ),
    ],
  });
  const metering = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: watched(
          new OTLPMetricExporter({ url: `${base}/v1/metrics`, timeoutMillis: TIMEOUT_MS }),
        ),
        exportIntervalMillis: MEASURE_EVERY_MS,
        exportTimeoutMillis: TIMEOUT_MS,
      }),
    ],
  });
  const tracer = tracing.getTracer('svc', version);
  const meter = metering.getMeter('svc', version);
  const tokens = meter.createHistogram(names.TOKEN_USAGE_METRIC, {
    unit: '{token}',
    advice: { explicitBucketBoundaries: names.TOKEN_BOUNDS },
  });
  const duration = meter.createHistogram(names.DURATION_METRIC, {
    unit: 's',
    advice: { explicitBucketBoundaries: names.DURATION_BOUNDS_S },
  });
  const saved = meter.createCounter(names.SAVED_METRIC, { unit: '{token}' });

  function add(record: SpanRecord): void {
    const { traceId, parentSpanId, error } = record;
    ids.traceId = traceId;
    ids.spanId = record.spanId;
    const parent =
      parentSpanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId,
            spanId: parentSpanId,
            traceFlags: TraceFlags.SAMPLED,
            isRemote: record.kind === 'server',
          });
    const span = tracer.startSpan(
      record.name,
      { kind: KINDS[record.kind], startTime: record.startMs, attributes: record.attributes },
      parent,
    );
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(record.endMs);
  }

  function measure(row: LedgerRow): void {
    const attributes = metricAttributes(row);
    const record = (type: string, count: number | null): void => {
      if (count !== null) tokens.record(count, { ...attributes, [names.TOKEN_TYPE]: type });
    };
    record('input', row.inputTokensSent);
    record('output', row.outputTokens);
    if (row.latencyMs !== null) duration.record(row.latencyMs / 1000, attributes);
    if (row.savedTokens !== null && row.savedTokens > 0) saved.add(row.savedTokens, attributes);
    write({
      type: 'measurement',
      time: new Date(row.startedMs).toISOString(),
      [names.DURATION_METRIC]: row.latencyMs === null ? null : row.latencyMs / 1000,
      [names.TOKEN_USAGE_METRIC]: { input: row.inputTokensSent, output: row.outputTokens },
      [names.SAVED_METRIC]: row.savedTokens,
      attributes,
    });
  }

  return {
    spans(spans) {
      for (const span of spans) {
        add(span);
        write({ type: 'span', ...span });
      }
    },
    measure,
    async close() {
      await Promise.allSettled([tracing.shutdown(), metering.shutdown(), file.close()]);
    },
  };
}

interface Result {
  readonly code: number;
  readonly error?: Error;
}

interface Exporting<T> {
  export(items: T, done: (result: Result) => void): void;
}

/** Reports the first failure of all exporters, and the next one only after a success. */
function reportOnce(report: (reason: string) => void) {
  let isFailing = false;
  return <T, E extends Exporting<T>>(exporter: E & Exporting<T>): E => {
    const send = exporter.export.bind(exporter);
    exporter.export = (items: T, done: (result: Result) => void) =>
      send(items, (result) => {
        if (result.code !== 0 && !isFailing) report(result.error?.message ?? 'unknown');
        isFailing = result.code !== 0;
        done(result);
      });
    return exporter;
  };
}
