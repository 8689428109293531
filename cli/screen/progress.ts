/**
 * Shows the progress of work over many files: a bar on a terminal, occasional plain lines
 * elsewhere.
 */
import type { Clock } from '../../engine/clock.ts';
import type { CliContext } from '../context.ts';
import { columnsOf, figure, isTerminal, note } from './output.ts';

/** A bar that is updated more often only flickers. */
const BAR_MS = 80;
/** A log file needs fewer lines. */
const LINE_MS = 2000;
const BAR_WIDTH = 24;

/** Files done, out of all. */
export interface FileProgress {
  readonly done: number;
  readonly total: number;
  readonly filesPerSecond: number;
  /** Estimated remaining time in milliseconds. */
  readonly remainingMs: number;
}

export interface ProgressView {
  show(progress: FileProgress): void;
  /** Removes the bar; call it before anything else is printed. */
  clear(): void;
}

/** Shows progress on stderr, so that results on stdout stay clean. */
export function createProgressView(context: CliContext): ProgressView {
  const { stderr, clock } = context;
  return isTerminal(stderr) ? barView(context) : linesView(context, clock);
}

function barView({ stderr, clock }: CliContext): ProgressView {
  let drawnMs = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    show(progress) {
      const nowMs = clock.monotonicMs();
      if (nowMs - drawnMs < BAR_MS && progress.done < progress.total) return;
      drawnMs = nowMs;
      isDrawn = true;
      const line = `${barOf(progress)} ${progressText(progress)}`;
      stderr.write(`\r\u001b[K${line.slice(0, columnsOf(stderr) - 1)}`);
    },
    clear() {
      if (isDrawn) stderr.write('\r\u001b[K');
      isDrawn = false;
    },
  };
}

function linesView(context: CliContext, clock: Clock): ProgressView {
  let nextMs = clock.monotonicMs() + LINE_MS;
  return {
    show(progress) {
      const nowMs = clock.monotonicMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + LINE_MS;
      note(context, progressText(progress));
    },
    clear: () => undefined,
  };
}

function barOf({ done, total }: FileProgress): string {
  const filled = total === 0 ? BAR_WIDTH : Math.floor((BAR_WIDTH * done) / total);
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`;
}

/** Formats `1,234 of 3,000 files, 812 files/s, 2 s left`. */
function progressText({ done, total, filesPerSecond, remainingMs }: FileProgress): string {
  const parts = [`${figure(done)} of ${figure(total)} files`];
  if (filesPerSecond > 0) parts.push(`${figure(Math.round(filesPerSecond))} files/s`);
  if (done < total && Number.isFinite(remainingMs)) parts.push(`${spanOf(remainingMs)} left`);
  return parts.join(', ');
}

/** Formats `0.4 s`, `12 s`, `3 min 20 s`. */
export function spanOf(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
