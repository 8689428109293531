/** The line: a template's fields filled in, coloured for its target, within the given width. */
import { dollars, share } from '../../server/words/amounts.ts';
import { visible } from '../../server/log/visible.ts';
import { timeOfDay } from '../../server/words/time-of-day.ts';
import type { Figures } from './figures.ts';
import type { PlanWindow } from './input.ts';

/**
 * Where a line is shown: Claude Code and terminals use ANSI colours, tmux its own, starship and
 * others none.
 */
export const SHOWN_IN = ['claude-code', 'tmux', 'starship', 'plain'] as const;
export type ShownIn = (typeof SHOWN_IN)[number];

export interface LineOptions {
  readonly format: string;
  readonly shownIn: ShownIn;
  readonly hasColors: boolean;
  /** Columns available for the line. */
  readonly width: number;
  readonly nowMs: number;
}

/** Default templates for a client's session, and for the whole day. */
export const SESSION_FORMAT =
  '{model} | ctx {context} | {cost} | {saved} | cache {cache} | {window} | {svc}';
export const TODAY_FORMAT = 'today {cost} | {saved} | cache {cache} | {window} | {svc}';

type Tone = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

interface Piece {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

/** Text of a field; undefined if unknown. */
const FIELDS: Readonly<Record<string, (figures: Figures, nowMs: number) => Piece | undefined>> = {
  model: ({ model }) => text(model, 'bold'),
  directory: ({ directory }) => text(directory),
  context: ({ contextUsed: used }) => text(wholeShare(used), toneOf(used, 0.7, 0.9)),
  context_size: ({ contextTokens }) => text(thousands(contextTokens)),
  cost: ({ costUsd }) => text(costUsd === undefined ? undefined : dollars(costUsd)),
  saved: ({ savedUsd }) =>
    // A zero saving is not shown.
    savedUsd === undefined || savedUsd <= 0
      ? undefined
      : { text: `saved ${dollars(savedUsd)}`, tone: 'green' },
  saved_percent: ({ savedUsd, costUsd }) =>
    savedUsd === undefined || costUsd === undefined || savedUsd <= 0
      ? undefined
      : { text: share(savedUsd / (savedUsd + costUsd)), tone: 'green' },
  saved_tokens: ({ savedTokens }) => text(thousands(savedTokens)),
  requests: ({ requests }) => text(requests?.toString()),
  cache: ({ cacheRatio }) =>
    text(
      wholeShare(cacheRatio),
      cacheRatio !== undefined && cacheRatio < 0.5 ? 'yellow' : undefined,
    ),
  window: ({ windows: [first] }, nowMs) => first && windowPiece(first, nowMs),
  windows: ({ windows }, nowMs) => {
    const pieces = windows.map((window) => windowPiece(window, nowMs));
    return pieces.length === 0
      ? undefined
      : { text: pieces.map((piece) => piece.text).join(', '), tone: pieces[0]?.tone };
  },
  svc: ({ proxy }) =>
    proxy === 'up'
      ? undefined
      : { text: proxy === 'off' ? 'svc off' : 'not through svc', tone: 'dim' },
};

export const FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

/** Fields in the order in which they are dropped for lack of width. */
const MIN_NEEDED = ['svc', 'cache', 'saved', 'cost', 'model', 'directory', 'context'];

interface Segment {
  readonly pieces: readonly Piece[];
  /** Segments with a higher rank are dropped sooner. */
  readonly rank: number;
}

/**
 * Returns one line without its line end. Segments of `format` are separated by ` | `; one with an
 * unknown field is dropped, and if the line is too wide, the least important ones.
 */
export function statusLine(figures: Figures, options: LineOptions): string {
  let segments = options.format
    .split(' | ')
    .flatMap((segment) => toSegment(segment, figures, options.nowMs) ?? []);
  while (segments.length > 1 && widthOf(segments) > options.width) {
    const max = Math.max(...segments.map(({ rank }) => rank));
    const index = segments.findLastIndex(({ rank }) => rank === max);
    segments = segments.toSpliced(index, 1);
  }
  const divider = painted({ text: ' | ', tone: 'dim' }, options);
  if (widthOf(segments) <= options.width)
    return segments
      .map(({ pieces }) => pieces.map((piece) => painted(piece, options)).join(''))
      .join(divider);
  const bare = segments.map(({ pieces }) => pieces.map((piece) => piece.text).join('')).join(' | ');
  return painted({ text: Array.from(bare).slice(0, options.width).join('') }, options);
}

function toSegment(template: string, figures: Figures, nowMs: number): Segment | undefined {
  const pieces: Piece[] = [];
  let rank = 0;
  for (const part of template.split(/(\{\w+\})/)) {
    const name = part.startsWith('{') ? part.slice(1, -1) : '';
    if (!Object.hasOwn(FIELDS, name)) pieces.push({ text: visible(part) });
    else {
      const piece = FIELDS[name]!(figures, nowMs);
      if (piece === undefined) return undefined;
      const place = MIN_NEEDED.indexOf(name.replace(/_\w+$/, ''));
      rank = Math.max(rank, place < 0 ? 0 : MIN_NEEDED.length - place);
      pieces.push(piece);
    }
  }
  return pieces.every((piece) => piece.text === '') ? undefined : { pieces, rank };
}

function text(value: string | undefined, tone?: Tone): Piece | undefined {
  return value === undefined || value === '' ? undefined : { text: visible(value), tone };
}

function toneOf(used: number | undefined, warn: number, alarm: number): Tone | undefined {
  if (used === undefined || used < warn) return undefined;
  return used >= alarm ? 'red' : 'yellow';
}

function windowPiece({ name, used, resetsAtMs, usedUpAtMs }: PlanWindow, nowMs: number): Piece {
  const until =
    used >= 1 || usedUpAtMs === undefined
      ? resetsAtMs && `, resets ${timeOfDay(resetsAtMs, nowMs)}`
      : `, used up ~${timeOfDay(Math.max(nowMs, usedUpAtMs), nowMs)}`;
  const tone = usedUpAtMs !== undefined && used < 0.9 ? 'yellow' : toneOf(used, 0.8, 0.9);
  return { text: visible(`${name} ${wholeShare(used)}${until ?? ''}`), tone };
}

/** Formats `42%`: a line that changes with every tenth of a percent only distracts. */
function wholeShare(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${Math.round(value * 100)}%`;
}

function thousands(count: number | undefined): string | undefined {
  if (count === undefined) return undefined;
  if (count >= 999_500) return `${Number((count / 1e6).toFixed(1))}M`;
  return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}

const ANSI: Readonly<Record<Tone, number>> = { bold: 1, dim: 2, green: 32, yellow: 33, red: 31 };

function painted({ text: words, tone }: Piece, { shownIn, hasColors }: LineOptions): string {
  // tmux interprets `#` as the beginning of an instruction.
  const safe = shownIn === 'tmux' ? words.replaceAll('#', '##') : words;
  if (tone === undefined || !hasColors) return safe;
  if (shownIn === 'claude-code') return `\u001b[${ANSI[tone]}m${safe}\u001b[0m`;
  if (shownIn !== 'tmux') return safe;
  return `#[${tone === 'bold' || tone === 'dim' ? tone : `fg=${tone}`}]${safe}#[default]`;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

/** Returns the columns of the segments with their separators. */
function widthOf(segments: readonly Segment[]): number {
  const words = segments.map(({ pieces }) => pieces.map((piece) => piece.text).join(''));
  let width = 0;
  for (const char of words.join(' | ')) width += char > '\u1000' && WIDE.test(char) ? 2 : 1;
  return width;
}
