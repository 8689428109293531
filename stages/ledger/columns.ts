/**
 * The columns of a request's row, each defined once: the row, the statements that store it,
 * Postgres's types and the export follow from here. A new figure is an entry at the end, a step in
 * `migrations.ts` that adds its columns, and the place where it is measured: its sums, `/metrics`,
 * the JSON of requests and of sums, its schema and the table in the documentation are derived.
 */
import { cutText } from '../../engine/index.ts';
import type { Outcome } from '../../engine/index.ts';
import type { MissCause } from '../model/cached-turn.ts';
import { toolSet } from '../model/tool-use.ts';
import type { ToolResults, ToolSet } from '../model/tool-use.ts';
import { parseResults, resultsToJson, resultsToText, resultsToCsv } from './tools/results-forms.ts';

/** A cell as a database stores it. */
export type Cell = string | number | null;

/** One column with values of type `T`. Its functions never receive null. */
export interface Column<T> {
  /** How it is stored; `flag` is 0 or 1. */
  readonly type: 'text' | 'whole' | 'fraction' | 'flag';
  /** The value of a row for which it is unknown; undefined if every row must have it. */
  readonly missing: T | undefined;
  /** Its name in other responses, if different from the column's. */
  readonly name?: string;
  /** Bounds a value from outside: rows stay in memory. */
  clean?(this: void, value: T): T;
  /** Converts a value that is not stored as it is to its cell, and back. */
  to?(this: void, value: NonNullable<T>): Cell;
  from?(this: void, cell: string | number): T;
  /** Converts a value for export: to JSON, and to a cell of CSV. */
  json?(this: void, value: NonNullable<T>): unknown;
  csvText?(this: void, value: NonNullable<T>): string;
}

/**
 * A whole number that is summed over requests, and shown wherever a request or a sum has its
 * figures.
 */
export interface Figure extends Column<number | null> {
  /** A description for the documentation. */
  readonly about: string;
}

type More<T> = Partial<Pick<Column<T>, 'name' | 'clean' | 'json' | 'csvText'>>;

/**
 * Longest text kept of a client's own names (model, session, skill). They come from outside and
 * rows stay in memory.
 */
export const MAX_TEXT_CHARS = 200;
/** Most injected block ids kept in a row. */
const MAX_TOP_CHUNKS = 20;
const NO_TOOLS = toolSet(new Map());

const clip = (value: string): string => cutText(value, MAX_TEXT_CHARS);
const clipped = (value: string | null): string | null => value && clip(value);
const toIso = (ms: number): string => new Date(ms).toISOString();

function required<T>(type: 'text' | 'whole', more: More<T> = {}): Column<T> {
  return { type, missing: undefined, ...more };
}

/** Null is unmeasured or not applicable, never zero or empty. */
function text<T extends string = string>(more: More<T | null> = {}): Column<T | null> {
  return { type: 'text', missing: null, ...more };
}

const wholeColumn = (): Column<number | null> => ({ type: 'whole', missing: null });
const count = (): Column<number> => ({ type: 'whole', missing: 0 });
const fraction = (): Column<number | null> => ({ type: 'fraction', missing: null });
const flag = (): Column<boolean> => ({
  type: 'flag',
  missing: false,
  to: Number,
  from: (cell) => cell === 1,
});

const figure = (about: string): Figure => ({ ...wholeColumn(), about });

interface TextColumn<T> {
  clean?(this: void, value: T): T;
  to(this: void, value: T): string;
  from(this: void, cell: string): T;
  json(this: void, value: T): unknown;
  csvText(this: void, value: T): string;
}

/** Defines a value that is stored as text. */
function textColumn<T>({ clean, to, from, json, csvText }: TextColumn<T>): Column<T | null> {
  return {
    type: 'text',
    missing: null,
    ...(clean && { clean: (value: T | null) => value && clean(value) }),
    to,
    from: (cell) => from(String(cell)),
    json,
    csvText,
  };
}

/** In the order in which a row is sent to the writer, which is also that of an export. */
export const COLUMNS = {
  /** The request id; unique. */
  id: required<string>('text', { name: 'request_id' }),
  /** Wall time of the first byte of the request, in milliseconds since the epoch (UTC). */
  startedMs: required<number>('whole', { name: 'timestamp', json: toIso, csvText: toIso }),
  /** The configured name of the provider that answered, or of the last one tried. */
  provider: text(),
  dialect: text(),
  endpoint: required<string>('text', { clean: clip }),
  /** The model that the client requested. */
  modelRequested: text({ clean: clipped }),
  /** The model that answered, after aliases, routes and fallback. */
  model: text({ clean: clipped }),
  stream: flag(),
  /** The HTTP status sent to the client. */
  status: wholeColumn(),
  outcome: required<Outcome>('text'),
  errorKind: text(),
  errorCode: text(),
  /** Input tokens of the request as the client sent it: without injected ones. */
  inputTokensRaw: wholeColumn(),
  /** Input tokens of the request as sent upstream. */
  inputTokensSent: wholeColumn(),
  /** Tokens removed by compression; never negative. */
  savedTokens: wholeColumn(),
  outputTokens: wholeColumn(),
  cacheReadTokens: wholeColumn(),
  cacheWriteTokens: wholeColumn(),
  /** True if a token count is an estimate rather than the provider's own. */
  usageEstimated: flag(),
  /** Whole nano-dollars. */
  costNanoUsd: wholeColumn(),
  /**
   * Whole nano-dollars saved by all of svc: by compression, forgetting and breakpoints, or by a
   * cached response.
   */
  costSavedNanoUsd: wholeColumn(),
  /** Milliseconds from the first byte of the request to the end of the answer. */
  latencyMs: fraction(),
  /** Milliseconds until the first byte of the answer. */
  ttfbMs: fraction(),
  /** Attempts at providers; 0 if none was called. */
  attempts: count(),
  /** The compression mode in force. */
  mode: text(),
  /** True if our own response cache answered. */
  cacheHit: flag(),
  chunksInjected: wholeColumn(),
  /** Size of the injected text, in the fixed estimator's tokens, the unit of the budget. */
  tokensInjected: wholeColumn(),
  /** Ids of the injected vault blocks, best first. */
  topChunks: textColumn<readonly string[]>({
    clean: (ids) => ids.slice(0, MAX_TOP_CHUNKS).map(clip),
    to: JSON.stringify,
    from: (cell) => JSON.parse(cell) as string[],
    json: (ids) => ids,
    csvText: (ids) => ids.join(' '),
  }),
  /** The agent's family, such as `claude-code`. */
  client: text({ clean: clipped }),
  /** The client's own session id. */
  sessionId: text({ clean: clipped }),
  skill: text({ clean: clipped }),
  /** The machine, if several share a ledger. */
  node: text(),
  /**
   * Injected tokens counted as input tokens of the model, like `savedTokens`; part of
   * `inputTokensSent` only.
   */
  addedTokens: wholeColumn(),
  /** Cost of the added tokens in whole nano-dollars; part of `costNanoUsd`. */
  costAddedNanoUsd: wholeColumn(),
  /** Cache markers that were set for a client that sets none. */
  breakpoints: wholeColumn(),
  /**
   * The part of `costSavedNanoUsd` due to them, by the provider's own usage; negative if it wrote
   * more than it read.
   */
  costSavedByBreakpointsNanoUsd: wholeColumn(),
  /** The part of `savedTokens` that was left out at cold moments, in this turn or before. */
  forgottenTokens: wholeColumn(),
  /** The part of `costSavedNanoUsd` due to them. */
  costSavedByForgettingNanoUsd: wholeColumn(),
  /** The part of `savedTokens` that long results left out, in this turn or before. */
  longResultTokens: wholeColumn(),
  /** The part of `costSavedNanoUsd` due to them. */
  costSavedByLongResultsNanoUsd: wholeColumn(),
  /** The part of `savedTokens` that repeats in tool definitions took. */
  toolTokens: wholeColumn(),
  /** The part of `costSavedNanoUsd` due to them. */
  costSavedByToolsNanoUsd: wholeColumn(),
  /**
   * Why it read less from the provider's cache than the previous turn left there; null for a hit,
   * or if nothing was cached or reported.
   */
  cacheMiss: text<MissCause>(),
  /** What exactly differed, in words. */
  cacheMissDetail: text({ clean: clipped }),
  /** Input tokens that could have been read from the cache. */
  cacheMissedTokens: wholeColumn(),
  /** The part of `costNanoUsd` that reading them would have saved. */
  costCacheMissedNanoUsd: wholeColumn(),
  /**
   * 1 if the provider refused thinking blocks that did not match and the request was repeated
   * without them; otherwise null.
   */
  thoughtsRefused: wholeColumn(),
  /**
   * Thinking blocks that the provider reports as not shown to the model; null if it reports none.
   */
  thoughtsDropped: wholeColumn(),
  /**
   * The label of the proxy key that the request came with, or its id if it has no label; null
   * without a key.
   */
  keyLabel: text({ clean: clipped, name: 'key' }),
  /** The name of the request's project; never a path. */
  project: text({ clean: clipped }),
  /** What tools returned since the model's last answer; null for nothing. */
  toolResults: textColumn<readonly ToolResults[]>({
    to: resultsToText,
    from: parseResults,
    json: resultsToJson,
    csvText: resultsToCsv,
  }),
  /**
   * The set of tool definitions. Its content is stored once for all rows, and a row read back has
   * only its id.
   */
  toolSet: textColumn<ToolSet>({
    to: ({ id }) => id,
    from: (id) => ({ ...NO_TOOLS, id }),
    json: ({ id }) => id,
    csvText: ({ id }) => id,
  }),
  /** Input tokens of the tool definitions, in the model's own tokens, estimated. */
  toolDefinitionTokens: wholeColumn(),
  /** The part of `costNanoUsd` due to them. */
  costToolDefinitionsNanoUsd: wholeColumn(),
  reasoningTokens: figure('Output tokens that the model thought with, where the provider tells'),
  webSearches: figure('Searches of the web that the provider billed'),
  /**
   * Whole nano-dollars that limits count in addition to `costNanoUsd`: for a request without a
   * price, the known or estimated part. Negative for billed work that limits have counted by an
   * estimate until then.
   */
  budgetNanoUsd: wholeColumn(),
};

export type FieldName = keyof typeof COLUMNS;

/** A value of the column with this name. */
export type FieldValue<K extends FieldName> =
  (typeof COLUMNS)[K] extends Column<infer T> ? T : never;

/** Names of the columns as fields, in order. */
export const FIELDS = Object.keys(COLUMNS) as FieldName[];

/** Fields that are figures. */
export type FigureName = {
  [K in FieldName]: (typeof COLUMNS)[K] extends Figure ? K : never;
}[FieldName];

/** The figures, with their names in responses. */
export const FIGURES = FIELDS.flatMap((field) => {
  const { about } = COLUMNS[field] as { readonly about?: string };
  return about === undefined
    ? []
    : [{ field: field as FigureName, name: columnName(field), about }];
});

/** Returns the figures of a request, or of a sum, as in responses. */
export function figuresJson<T>(of: { readonly [K in FigureName]: T }): object {
  return Object.fromEntries(FIGURES.map(({ field, name }) => [name, of[field]]));
}

/** Returns a field's name as a column. */
export function columnName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
