/**
 * A finished run in memory that is written over by a later one. Hundreds are kept for whoever
 * looks; as a new object each, the garbage collector copied all of them twice on their way to be
 * old, and had them to clear away there.
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
  readonly attempts: Writable<Attempt>[] = [];

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
    this.attempts.length = Math.min(this.attempts.length, run.attempts.length);
    for (let at = 0; at < run.attempts.length; at += 1) this.#takeAttempt(at, run.attempts[at]!);
  }

  #takeAttempt(at: number, attempt: Attempt): void {
    const kept = this.attempts[at];
    if (kept === undefined) {
      this.attempts.push({ ...attempt });
      return;
    }
    kept.provider = attempt.provider;
    kept.model = attempt.model;
    kept.key = attempt.key;
    kept.startedMs = attempt.startedMs;
    kept.headMs = attempt.headMs;
    kept.status = attempt.status;
    kept.failure = attempt.failure;
  }
}
