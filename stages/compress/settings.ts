/** The settings of the compress stage. */
import {
  allows,
  count,
  flag,
  kind,
  milliseconds,
  oneOf,
  textOrList,
  wholeNumber,
} from '../settings/kind.ts';
import { isSwitchedOn, setting } from '../settings/setting.ts';
import { slice } from '../settings/slice.ts';
import type { SectionOf } from '../settings/slice.ts';
import { CACHE_LIFETIMES_MS } from '../model/model-facts.ts';
import type { Mode } from './rules/rule.ts';
import { DEFAULT_WORKERS, MAX_WORKERS } from './worker/count.ts';

/** Excludes `0m`, with which every moment would be a cold one. */
const PAUSE = /^(?:on|off|[1-9]\d{0,4}[smh])$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Converts a pause such as `20m` to milliseconds; null if the setting is off. */
export function toPauseMs(value: string | boolean): number | null {
  if (value === false || value === 'off') return null;
  if (value === true || value === 'on') return CACHE_LIFETIMES_MS['5m'];
  return Number.parseInt(value, 10) * UNIT_MS[value.slice(-1)]!;
}

/** `compression.*`: what is compressed, how much, and the time allowed for it. */
export const compression = slice({
  enabled: setting('compression.enabled', {
    type: flag,
    default: true,
    env: ['SVC_COMPACT'],
    about: 'Master switch for all compression.',
  }),
  mode: setting('compression.mode', {
    type: oneOf('strict', 'hybrid', 'aggressive'),
    default: 'hybrid',
    env: ['SVC_MODE'],
    about:
      '`strict` changes nothing; `hybrid` re-encodes and shortens tool output and pasted text; `aggressive` also code and config files.',
  }),
  maxChars: setting('compression.max_chars', {
    type: count('characters', 1),
    default: 120,
    env: ['SVC_COMPACT_MAX_CHARS'],
    about:
      'Soft length of a narrative chunk, the unit that is kept or dropped whole, in characters.',
  }),
  thresholdTokens: setting('compression.threshold_tokens', {
    type: count('tokens'),
    default: 4500,
    env: ['SVC_COMPACT_THRESHOLD_TOKENS'],
    aliases: ['compression.min_tokens'],
    aliasesWin: true,
    about:
      'A block is compressed once the tokens up to and including it, with those of the tool definitions, reach this number.',
  }),
  cacheEntries: setting('compression.cache_size', {
    type: count('entries'),
    default: 2000,
    env: ['SVC_COMPACT_CACHE_SIZE'],
    needsRestart: true,
    about: 'Compressed blocks kept in memory. It changes speed only, never what is sent.',
  }),
  maxTimeMs: setting('compression.max_time_ms', {
    type: milliseconds,
    default: 5000,
    env: ['SVC_MAX_COMPRESSION_TIME_MS'],
    about:
      'Milliseconds after which blocks are sent unchanged; 0 means no limit. The start of a compression thread does not count: a request waits at most as long again for it, and the next request finds it ready.',
  }),
  workers: setting('compression.workers', {
    type: wholeNumber(1, MAX_WORKERS, 'threads,'),
    default: DEFAULT_WORKERS,
    env: ['SVC_WORKERS'],
    flag: '--workers',
    needsRestart: true,
    about:
      'Maximum number of threads that compress at the same time. Each takes about 60 MB, starts when requests wait for it and ends when it is idle. The number does not change what is sent.',
  }),
  logBudgetTokens: setting('compression.log_budget_tokens', {
    type: count('tokens', 1),
    default: 3500,
    about:
      'Tokens to which a longer log is reduced; its ends, totals and failures are kept first. Nothing is left out of a shorter one.',
  }),
  userProse: setting('compression.user_prose', {
    type: flag,
    default: false,
    about:
      'Shorten long prose in user messages too. If off, only pasted tool output is re-encoded.',
  }),
  longResultsTokens: setting('compression.long_results_tokens', {
    type: count('tokens'),
    default: 10_000,
    about:
      'A file or other result of more tokens is sent as an excerpt if parts of it can be requested: its ends, its outline and what the question names. 0 sends all results whole.',
  }),
  recipes: setting('compression.recipes', {
    type: textOrList(
      '`bundled`, `off`, or a list of files and folders, and `bundled` for those too',
    ),
    default: 'bundled',
    about:
      'Recipes that shorten the output of known commands: the bundled ones, your own files and folders, or none.',
    guarded: true,
    resolve: (value, absolute) =>
      typeof value === 'string'
        ? recipePath(value, absolute)
        : value.map((one) => recipePath(one, absolute)),
  }),
  tools: setting('compression.tools', {
    type: oneOf('off', 'trim'),
    default: 'off',
    about:
      '`trim` removes redundancy from tool definitions: white space, and whatever their JSON Schemas repeat or have by default.',
  }),
  coldTrimMs: setting('compression.cold_trim', {
    type: kind(['boolean', '|', PAUSE], 'true, false, on, off or a pause such as 20m'),
    default: false,
    read: toPauseMs,
    about:
      'Leave out old tool results after a pause that outlasts the provider’s cache: `on` means five minutes, or give a longer pause.',
  }),
  remember: setting('compression.remember', {
    type: kind(['boolean', '|', /^(?:on|off)$/], 'true, false, on or off'),
    default: true,
    read: (value) => value === true || value === 'on',
    about:
      'Remember what was sent, so that the same text is sent again before every signed thought that depends on it, even after settings change. If off, conversations with signed thoughts are not rewritten.',
  }),
  rememberMb: setting('compression.remember_mb', {
    type: wholeNumber(1, 1024, 'megabytes'),
    default: 20,
    needsRestart: true,
    about:
      'Maximum megabytes of remembered conversations; the least recently continued ones are dropped first.',
  }),
  rememberDays: setting('compression.remember_days', {
    type: count('days', 1),
    default: 30,
    needsRestart: true,
    about: 'Days after which an idle conversation is forgotten.',
  }),
  subscriptionTraffic: setting('compression.subscription_traffic', {
    type: flag,
    default: false,
    about:
      'Also rewrite requests that carry a subscription token. If off, they are forwarded byte for byte.',
    loosens: isSwitchedOn,
  }),
  http100Keepalive: setting('compression.http100_keepalive', {
    type: flag,
    default: false,
    env: ['SVC_HTTP100_KEEPALIVE'],
    about:
      'Send `100 Continue` once more before work that can take long, to clients that sent `Expect: 100-continue`.',
  }),
});

/** The settings that the stage needs; the others are applied before it. */
export type CompressConfig = Omit<
  SectionOf<typeof compression>,
  | 'subscriptionTraffic'
  | 'http100Keepalive'
  | 'recipes'
  | 'workers'
  | 'remember'
  | 'rememberMb'
  | 'rememberDays'
>;

function recipePath(value: string, absolute: (path: string) => string): string {
  return value === 'bundled' || value === 'off' ? value : absolute(value);
}

/** Returns true for the name of a mode. */
export function isMode(value: unknown): value is Mode {
  return allows(compression.members.mode.type.definition, value);
}
