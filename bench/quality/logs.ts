/** CI failure logs: how many labelled signals survive a token budget. */
import { join } from 'node:path';
import { builtIn } from '../../stages/compress/rules/built-in.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { readRecords } from './corpus.ts';

interface Signal {
  readonly type: string;
  readonly importance: string;
  readonly value?: string;
  readonly aliases?: readonly string[];
  readonly file?: string;
  readonly line?: number;
}

/** A log, with the parts needed to understand why the run failed. */
export interface LabelledLog {
  readonly id: string;
  readonly text: string;
  readonly ground_truth: { readonly required_signals: readonly Signal[] };
}

export interface LogResult {
  readonly budgetTokens: number;
  readonly logs: number;
  readonly critical: number;
  readonly criticalFound: number;
  readonly recall: number;
  /** Wilson interval, 95%. */
  readonly interval: readonly [number, number];
  readonly recallOfAll: number;
  readonly saved: number;
  readonly lostCritical: readonly string[];
}

/** Reads the labelled logs of a corpus. */
export function readLogs(corpus: string): readonly LabelledLog[] {
  return readRecords<LabelledLog>(join(corpus, 'logs/ci_logs_logdx.jsonl'));
}

/** Reduces every log to the budget and searches for its signals; signals are pooled over logs. */
export function measureLogs(
  logs: readonly LabelledLog[],
  budgetTokens: number,
  count: CountTokens,
): LogResult {
  let before = 0;
  let after = 0;
  const all: { readonly critical: boolean; readonly found: boolean; readonly name: string }[] = [];
  for (const log of logs) {
    const context = {
      mode: 'hybrid',
      query: '',
      maxChars: 120,
      logBudgetTokens: budgetTokens,
      hints: {},
    } as const;
    const out = builtIn.apply(log.text, context).text;
    before += count(log.text);
    after += count(out);
    for (const signal of log.ground_truth.required_signals) {
      const name = `${log.id}: ${signal.value ?? `${signal.file}:${signal.line}`}`;
      all.push({ critical: signal.importance === 'critical', found: isFound(signal, out), name });
    }
  }
  const critical = all.filter((signal) => signal.critical);
  const found = critical.filter((signal) => signal.found).length;
  return {
    budgetTokens,
    logs: logs.length,
    critical: critical.length,
    criticalFound: found,
    recall: found / critical.length,
    interval: wilson(found, critical.length),
    recallOfAll: all.filter((signal) => signal.found).length / all.length,
    saved: 1 - after / before,
    lostCritical: critical.filter((signal) => !signal.found).map((signal) => signal.name),
  };
}

function isFound({ type, value, aliases = [], file, line }: Signal, out: string): boolean {
  if (type === 'exit_code' && value !== undefined && /^\d+$/.test(value)) {
    return new RegExp(`(?:code|status|exit)\\D{0,3}${value}\\b`).test(out);
  }
  if ([value, ...aliases].some((text) => text !== undefined && text !== '' && out.includes(text)))
    return true;
  if (file === undefined) return false;
  const number = line === undefined || line === 1 ? /./ : new RegExp(`\\b${line}\\b`);
  return out.split('\n').some((text) => text.includes(file) && number.test(text));
}

/** Returns the Wilson score interval for a share, 95%. */
export function wilson(hits: number, total: number): readonly [number, number] {
  if (total === 0) return [0, 1];
  const z = 1.96;
  const share = hits / total;
  const middle = share + (z * z) / (2 * total);
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const scale = 1 + (z * z) / total;
  return [(middle - spread) / scale, Math.min(1, (middle + spread) / scale)];
}
