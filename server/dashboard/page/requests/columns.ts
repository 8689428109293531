/** The tables of both dashboards: the content of each column, and its priority if not all fit. */
import type { LiveState, ReportJson, ToolsJson, Trace } from '../../contract.ts';
import {
  dollars,
  duration,
  orDash,
  percent,
  share,
  short,
  spanOf,
  wholeNumber,
} from '../format.ts';
import type { Tone } from '../../../words/problems.ts';

export interface Column<T> {
  readonly header: string;
  readonly isRight?: boolean;
  /** If columns do not fit side by side, the one with the highest rank is dropped first. */
  readonly rank: number;
  /** Texts may be truncated to this width; if undefined, the column is never truncated. */
  readonly minWidth?: number;
  /**
   * The part of a text that is truncated only once all columns ranked above `ESSENTIAL_RANK` are
   * dropped.
   */
  readonly whole?: (row: T) => string;
  readonly text: (row: T) => string;
  readonly tone?: (row: T) => Tone | undefined;
}

export const ESSENTIAL_RANK = 2;

/** Returns a column of figures. */
export function figureColumn<T>(
  header: string,
  rank: number,
  text: (row: T) => string,
  tone?: (row: T) => Tone | undefined,
): Column<T> {
  return { header, isRight: true, rank, text, ...(tone !== undefined && { tone }) };
}

/** Returns the tone of saved tokens: no savings are not good news. */
export function savedTone(tokens: number | null): Tone | undefined {
  return (tokens ?? 0) > 0 ? 'good' : undefined;
}

/** Returns the column of saved tokens. */
export function savedColumn<T>(rank: number, tokensOf: (row: T) => number | null): Column<T> {
  const tone = (row: T) => savedTone(tokensOf(row));
  return figureColumn('Saved', rank, (row) => short(tokensOf(row)), tone);
}

export type Group = ReportJson['by_model'][number];

/** Returns columns for grouped sums; `header` names what the rows are grouped by. */
export function groupColumns(header: string): readonly Column<Group>[] {
  return [
    { header, rank: 0, minWidth: 12, text: ({ name }) => name ?? 'unknown' },
    figureColumn('Requests', 4, (group) => wholeNumber(group.requests)),
    figureColumn('In', 6, (group) => short(group.input_tokens)),
    figureColumn('Sent', 7, (group) => short(group.sent_input_tokens)),
    savedColumn(2, (group) => group.saved_tokens),
    figureColumn('Share', 5, (group) => percent(group.saved_percent)),
    figureColumn('Cache read', 9, (group) => short(group.provider_cache_read_tokens)),
    figureColumn('Paid', 3, (group) => dollars(group.cost)),
    figureColumn('Without svc', 8, (group) => dollars(group.cost_without)),
    figureColumn('Net saving', 1, (group) => dollars(group.net_cost_saved)),
  ];
}

export type ToolGroup = NonNullable<ToolsJson['tools']>[number];

/** Returns columns for tool results and definitions; `header` is `Tool` or `MCP server`. */
export function toolColumns(header: string): readonly Column<ToolGroup>[] {
  return [
    { header, rank: 0, minWidth: 12, text: ({ name }) => name ?? 'no server' },
    figureColumn('Calls', 1, (group) => wholeNumber(group.calls)),
    figureColumn(
      'Failed',
      4,
      (group) => wholeNumber(group.failed_calls),
      (group) => (group.failed_calls > 0 ? 'warn' : undefined),
    ),
    figureColumn('Results', 3, (group) => short(group.result_tokens)),
    figureColumn('Results sent', 5, (group) => short(group.sent_result_tokens)),
    figureColumn('Definitions', 6, (group) => short(group.definition_tokens)),
    figureColumn('Definitions cost', 2, (group) => dollars(group.definition_cost)),
  ];
}

type TextClass = LiveState['classes'][number];

export function classColumns(header: string): readonly Column<TextClass>[] {
  return [
    { header, rank: 0, minWidth: 10, text: (one) => one.class },
    figureColumn('Raw', 3, (one) => short(one.tokens_before)),
    figureColumn('Sent', 2, (one) => short(one.tokens_after)),
    savedColumn(4, (one) => one.tokens_before - one.tokens_after),
    figureColumn('Share', 1, ({ tokens_before: before, tokens_after: after }) =>
      share(before === 0 ? null : (before - after) / before),
    ),
  ];
}

type Key = LiveState['providers'][string]['keys'][number];

export const KEY_COLUMNS: readonly Column<Key>[] = [
  { header: 'Key', rank: 0, minWidth: 8, text: ({ label }) => orDash(label) },
  {
    header: 'State',
    rank: 1,
    text: ({ state, wait_s: waitS }) =>
      `${state}${waitS > 0 ? `, ${spanOf(Math.ceil(waitS))} left` : ''}`,
    tone: ({ wait_s: waitS }) => (waitS > 0 ? 'warn' : undefined),
  },
  figureColumn('Used', 2, ({ picked }) => wholeNumber(picked)),
  figureColumn('Limited', 3, ({ limited }) => wholeNumber(limited)),
  figureColumn('Refused', 4, ({ refused }) => wholeNumber(refused)),
];

type Attempt = Trace['attempts'][number];

/** Returns the status, and the reason for the failure if the status does not say it. */
function resultOf({ status, failure }: Attempt): string {
  const reason = failure === `status ${status}` ? null : failure;
  return status === null
    ? orDash(reason)
    : [status, ...(reason === null ? [] : [reason])].join(' ');
}

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { header: 'Provider', rank: 0, minWidth: 8, text: (one) => one.provider },
  { header: 'Model', rank: 2, minWidth: 10, text: (one) => orDash(one.model) },
  { header: 'Key', rank: 4, minWidth: 8, text: (one) => one.key ?? 'the client’s, or none' },
  figureColumn('Started', 3, (one) => duration(one.started_ms)),
  figureColumn('Answered', 3, (one) => duration(one.head_ms)),
  {
    header: 'Result',
    rank: 1,
    minWidth: 8,
    text: resultOf,
    // A client's own mistake is no failure of the provider, but no answer either.
    tone: (one) => (one.failure === null && (one.status ?? 0) < 400 ? undefined : 'bad'),
  },
];
