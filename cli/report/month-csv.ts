/** A month as CSV (RFC 4180): one line per day, name and model, with unrounded amounts. */
import { visible } from '../../server/log/visible.ts';
import { csvCell, csvLineOf, exactUsd } from '../../stages/ledger/csv.ts';
import { costWithout, knownCost, knownNetSaving } from '../../stages/ledger/figures.ts';
import type { Totals } from '../../stages/ledger/figures.ts';
import type { MonthReport } from './month.ts';

type Figure = readonly [head: string, value: (totals: Totals) => number | string | null];

const FIGURES: readonly Figure[] = [
  ['requests', (t) => t.requests],
  ['errors', (t) => t.errors],
  ['input_tokens', (t) => t.inputTokens],
  ['sent_input_tokens', (t) => t.sentInputTokens],
  ['saved_tokens', (t) => t.savedTokens],
  ['output_tokens', (t) => t.outputTokens],
  ['provider_cache_read_tokens', (t) => t.cacheReadTokens],
  ['provider_cache_creation_tokens', (t) => t.cacheWriteTokens],
  ['cost_usd', (t) => money(knownCost(t))],
  ['cost_without_usd', (t) => money(costWithout(knownCost(t), knownNetSaving(t)))],
  ['net_saving_usd', (t) => money(knownNetSaving(t))],
  ['requests_without_price', (t) => t.unpriced],
];

/** Returns the lines, including line ends. */
export function monthCsv({ by, rows }: MonthReport): string {
  const head = [
    'date',
    ...(by === undefined ? [] : [by]),
    'model',
    ...FIGURES.map(([name]) => name),
  ];
  const lines = rows.map(({ date, name, model, totals }) => [
    date,
    ...(by === undefined ? [] : [csvCell(visible(name ?? 'unknown'))]),
    csvCell(visible(model ?? 'unknown')),
    ...FIGURES.map(([, value]) => String(value(totals) ?? '')),
  ]);
  return [head, ...lines].map(csvLineOf).join('');
}

const money = (nanoUsd: number | null) => (nanoUsd === null ? null : exactUsd(nanoUsd));
