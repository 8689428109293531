/** The interface between telemetry and its exporter, which hides the OpenTelemetry packages. */
import type { Clock } from '../../engine/index.ts';
import type { LedgerRow } from '../../stages/ledger/row.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import type { SpanRecord } from './spans.ts';

/** Receives spans and measurements. */
export interface Exporter {
  spans(spans: readonly SpanRecord[]): void;
  measure(row: LedgerRow): void;
  close(): Promise<void>;
}

export interface TelemetryOptions {
  readonly config: Pick<Config, 'telemetry' | 'logging'>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warning'>;
}
