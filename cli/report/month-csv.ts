/** A month as CSV (RFC 4180): a line for each day, name and model, with money to the last digit. */
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
  ['cost_usd', (t) => exactUsd(knownCost(t))],
  ['cost_without_usd', (t) => exactUsd(costWithout(knownCost(t), knownNetSaving(t)))],
  ['net_saving_usd', (t) => exactUsd(knownNetSaving(t))],
  ['requests_without_price', (t) => t.unpriced],
];

/** The lines with their ends. */
export function monthCsv({ by, rows }: MonthReport): string {
  const head = [
    'date',
    ...(by === undefined ? [] : [by]),
    'model',
    ...FIGURES.map(([name]) => name),
  ];
  const lines = rows.map(({ date, name, model, totals }) => [
    date,
    ...(by === undefined ? [] : [cell(name ?? 'unknown')]),
    cell(model ?? 'unknown'),
    ...FIGURES.map(([, value]) => String(value(totals) ?? '')),
  ]);
  return [head, ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}

/**
 * A name as a field. Clients choose names: one that a table calculator would read as a formula gets
 * an apostrophe before it.
 */
function cell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Nano-dollars as dollars in decimals, exactly. */
function exactUsd(nano: number | null): string | null {
  if (nano === null) return null;
  const digits = String(Math.abs(nano)).padStart(10, '0');
  const decimals = digits.slice(-9).replace(/0{1,7}$/, '');
  return `${nano < 0 ? '-' : ''}${digits.slice(0, -9)}.${decimals}`;
}
