/** The tables of both dashboards: what each column says, and what matters where not all fit. */
import type { LiveState, ReportJson, ToolsJson, Trace } from '../../contract.ts';
import { dollars, duration, orDash, percent, share, short, spanOf, whole } from '../format.ts';

export type Tone = 'good' | 'warn' | 'bad';

export interface Column<T> {
  readonly header: string;
  readonly isRight?: boolean;
  /** Where columns do not fit side by side, the one with the highest goes first. */
  readonly rank: number;
  /** A name may be cut to this width; without it nothing of the column is cut. */
  readonly least?: number;
  /** What of a name is cut only where no column is left to go but those of the ranks up to `ESSENTIAL_RANK`. */
  readonly whole?: (row: T) => string;
  readonly text: (row: T) => string;
  readonly tone?: (row: T) => Tone | undefined;
}

export const ESSENTIAL_RANK = 2;

/** A column of figures. */
export function figures<T>(
  header: string,
  rank: number,
  text: (row: T) => string,
  tone?: (row: T) => Tone | undefined,
): Column<T> {
  return { header, isRight: true, rank, text, ...(tone !== undefined && { tone }) };
}

/** What saved nothing is not good news. */
export function savedTone(tokens: number | null): Tone | undefined {
  return (tokens ?? 0) > 0 ? 'good' : undefined;
}

/** The column of tokens that were saved. */
export function saved<T>(rank: number, tokensOf: (row: T) => number | null): Column<T> {
  const tone = (row: T) => savedTone(tokensOf(row));
  return figures('Saved', rank, (row) => short(tokensOf(row)), tone);
}

export type Group = ReportJson['by_model'][number];

/** Sums by `head`, which is what the rows are grouped by. */
export function groupColumns(header: string): readonly Column<Group>[] {
  return [
    { header, rank: 0, least: 12, text: ({ name }) => name ?? 'unknown' },
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

/** What tools gave back, and what their definitions took; `header` is `Tool` or `MCP server`. */
export function toolColumns(header: string): readonly Column<ToolGroup>[] {
  return [
    { header, rank: 0, least: 12, text: ({ name }) => name ?? 'no server' },
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
    { header, rank: 0, least: 10, text: (one) => one.class },
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
  { header: 'Key', rank: 0, least: 8, text: ({ label }) => orDash(label) },
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

/** The status, and why the attempt failed where the status is not the reason. */
function resultOf({ status, failure }: Attempt): string {
  const reason = failure === `status ${status}` ? null : failure;
  return status === null
    ? orDash(reason)
    : [status, ...(reason === null ? [] : [reason])].join(' ');
}

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { header: 'Provider', rank: 0, least: 8, text: (one) => one.provider },
  { header: 'Model', rank: 2, least: 10, text: (one) => orDash(one.model) },
  { header: 'Key', rank: 4, least: 8, text: (one) => one.key ?? 'the client’s, or none' },
  figures('Started', 3, (one) => duration(one.started_ms)),
  figures('Answered', 3, (one) => duration(one.head_ms)),
  {
    header: 'Result',
    rank: 1,
    least: 8,
    text: resultOf,
    tone: (one) => (one.failure === null ? undefined : 'bad'),
  },
];
