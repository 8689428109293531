/**
 * A finished run in memory that a later one is written over. Hundreds are kept for whoever looks;
 * as a new object each, the garbage collector would copy every one of them twice before it is old.
 */
import { KeptSpans } from '../../engine/index.ts';
import type { Attempt } from '../model/attempt.ts';
import type { FinishedRun } from './traces.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class KeptRun implements Writable<Omit<FinishedRun, 'spans'>> {
  id = '';
  startedMs = 0;
  endpoint = '';
  model: string | null = null;
  provider: string | null = null;
  status: number | null = null;
  outcome: FinishedRun['outcome'] = 'ok';
  error: string | null = null;
  durationMs = 0;
  readonly spans = new KeptSpans();
  attempts: readonly Attempt[] = [];

  /** Keeps `run` in place of what was kept. */
  take(run: FinishedRun): void {
    this.id = run.id;
    this.startedMs = run.startedMs;
    this.endpoint = run.endpoint;
    this.model = run.model;
    this.provider = run.provider;
    this.status = run.status;
    this.outcome = run.outcome;
    this.error = run.error;
    this.durationMs = run.durationMs;
    run.spans(this.spans);
    this.attempts = run.attempts;
  }
}
