/** The tables of both dashboards: the content of each column, and its priority if not all fit. */
import type { LiveState, ReportJson, ToolsJson, Trace } from '../../contract.ts';
import { dollars, duration, orDash, percent, share, short, spanOf, whole } from '../format.ts';

export type Tone = 'good' | 'warn' | 'bad';

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
export function figures<T>(
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
export function saved<T>(rank: number, tokensOf: (row: T) => number | null): Column<T> {
  const tone = (row: T) => savedTone(tokensOf(row));
  return figures('Saved', rank, (row) => short(tokensOf(row)), tone);
}

export type Group = ReportJson['by_model'][number];

/** Returns columns for grouped sums; `header` names what the rows are grouped by. */
export function groupColumns(header: string): readonly Column<Group>[] {
  return [
    { header, rank: 0, minWidth: 12, text: ({ name }) => name ?? 'unknown' },
    figures('Requests', 4, (group) => whole(group.requests)),
    figures('In', 6, (group) => short(group.input_tokens)),
    figures('Sent', 7, (group) => short(group.sent_input_tokens)),
    saved(2, (group) => group.saved_tokens),
    figures('Share', 5, (group) => percent(group.saved_percent)),
    figures('Cache read', 9, (group) => short(group.provider_cache_read_tokens)),
    figures('Paid', 3, (group) => dollars(group.cost)),
    figures('Without svc', 8, (group) => dollars(group.cost_without)),
    figures('Net saving', 1, (group) => dollars(group.net_cost_saved)),
  ];
}

export type ToolGroup = NonNullable<ToolsJson['tools']>[number];

/** Returns columns for tool results and definitions; `header` is `Tool` or `MCP server`. */
export function toolColumns(header: string): readonly Column<ToolGroup>[] {
  return [
    { header, rank: 0, minWidth: 12, text: ({ name }) => name ?? 'no server' },
    figures('Calls', 1, (group) => whole(group.calls)),
    figures(
      'Failed',
      4,
      (group) => whole(group.failed_calls),
      (group) => (group.failed_calls > 0 ? 'warn' : undefined),
    ),
    figures('Results', 3, (group) => short(group.result_tokens)),
    figures('Results sent', 5, (group) => short(group.sent_result_tokens)),
    figures('Definitions', 6, (group) => short(group.definition_tokens)),
    figures('Definitions cost', 2, (group) => dollars(group.definition_cost)),
  ];
}

type TextClass = LiveState['classes'][number];

export function classColumns(header: string): readonly Column<TextClass>[] {
  return [
    { header, rank: 0, minWidth: 10, text: (one) => one.class },
    figures('Raw', 3, (one) => short(one.tokens_before)),
    figures('Sent', 2, (one) => short(one.tokens_after)),
    saved(4, (one) => one.tokens_before - one.tokens_after),
    figures('Share', 1, ({ tokens_before: before, tokens_after: after }) =>
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
  figures('Used', 2, ({ picked }) => whole(picked)),
  figures('Limited', 3, ({ limited }) => whole(limited)),
  figures('Refused', 4, ({ refused }) => whole(refused)),
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
  figures('Started', 3, (one) => duration(one.started_ms)),
  figures('Answered', 3, (one) => duration(one.head_ms)),
  {
    header: 'Result',
    rank: 1,
    minWidth: 8,
    text: resultOf,
    tone: (one) => (one.failure === null ? undefined : 'bad'),
  },
];
