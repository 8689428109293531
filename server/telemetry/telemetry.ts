/**
 * OpenTelemetry of a running proxy. While it is off nothing is loaded or done; while it is on,
 * spans are made from the row and the trace after the request is finished.
 */
import { randomBytes } from 'node:crypto';
import { SvcError } from '../../engine/index.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { Trace } from '../../stages/ledger/traces.ts';
import type { BodyFrame } from '../../stages/model/body.ts';
import { spansOf } from './spans.ts';
import type { TelemetryOptions } from './contract.ts';
import { traceContextOf, withTraceContext } from './trace-context.ts';
import type { TraceContext } from './trace-context.ts';

export interface Telemetry {
  readonly isEnabled: boolean;
  /** Reads the client's trace context and returns the request with our span as the parent. */
  begin(body: BodyFrame, requestId: string): BodyFrame;
  /** Exports a finished request; `trace` exists if it had a run. */
  end(row: LedgerRow, trace: Trace | undefined): void;
  /** Sends queued data, for at most two seconds. */
  close(): Promise<void>;
}

/** Limit on remembered traces; each request ends, so this is only a safeguard. */
const MAX_RUNNING = 10_000;
const CLOSE_MS = 2000;

const OFF: Telemetry = Object.freeze({
  isEnabled: false,
  begin: (body: BodyFrame) => body,
  end: () => undefined,
  close: () => Promise.resolve(),
});

/**
 * Loads the packages if telemetry is on; throws `config` (CONFIG_002) if they are not installed.
 */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  if (!options.config.telemetry.enabled) return OFF;
  const { createExporter } = await import('./exporter.ts').catch((cause: unknown) => {
    throw new SvcError('config', 'telemetry.enabled needs packages that are not installed', {
      code: 'CONFIG_002',
      cause,
      cure: 'Install the optional dependencies (npm install --include=optional), or set telemetry.enabled to false.',
    });
  });
  const exporter = await createExporter(options);
  const running = new Map<string, TraceContext>();
  const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
  return {
    isEnabled: true,
    begin(body, requestId) {
      const context = traceContextOf(body.headers, randomHex);
      if (running.size < MAX_RUNNING) running.set(requestId, context);
      return { ...body, headers: withTraceContext(body.headers, context) };
    },
    end(row, trace) {
      const context = running.get(row.id) ?? traceContextOf([], randomHex);
      running.delete(row.id);
      exporter.measure(row);
      exporter.spans(spansOf(row, trace, context, () => randomHex(8)));
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([exporter.close(), late]);
    },
  };
}
