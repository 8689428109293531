/** The settings of the compress stage. */
import {
  allows,
  count,
  flag,
  kind,
  milliseconds,
  oneOf,
  textOrList,
  whole,
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

/** Converts a pause such as `20m` to milliseconds; null where the setting is off. */
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
    about: 'Master switch of all compression.',
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
      'A block is compressed once the tokens up to and including it reach this, those of the tools among them.',
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
      'Milliseconds after which a block is sent as it was; 0 sets no limit. The start of a compressing thread does not count: a request waits for it as long at most, and the next one finds it ready.',
  }),
  workers: setting('compression.workers', {
    type: whole(1, MAX_WORKERS, 'threads,'),
    default: DEFAULT_WORKERS,
    env: ['SVC_WORKERS'],
    flag: '--workers',
    needsRestart: true,
    about:
      'Threads that compress at the same time, at most. Each takes some 60 MB, starts when requests wait for it and ends when it is not needed; what is sent is the same with any number.',
  }),
  logBudgetTokens: setting('compression.log_budget_tokens', {
    type: count('tokens', 1),
    default: 3500,
    about:
      'Tokens to which a longer log is reduced: its ends, totals and failures first. Of a shorter one nothing is left out.',
  }),
  userProse: setting('compression.user_prose', {
    type: flag,
    default: false,
    about:
      'Shorten long prose in user messages too. Off, only pasted output of tools is re-encoded.',
  }),
  longResultsTokens: setting('compression.long_results_tokens', {
    type: count('tokens'),
    default: 10_000,
    about:
      'A file or other result of more tokens that can be asked for in parts keeps its ends, its outline and what the question names; 0 leaves all whole.',
  }),
  recipes: setting('compression.recipes', {
    type: textOrList(
      '`bundled`, `off`, or a list of files and folders, and `bundled` for those too',
    ),
    default: 'bundled',
    about:
      'Recipes that shorten the output of known commands: the bundled ones, your own files and folders of them, or none.',
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
      '`trim` takes out of the definitions of tools what they say twice: white space, and what their JSON Schemas repeat or have by default.',
  }),
  coldTrimMs: setting('compression.cold_trim', {
    type: kind(['boolean', '|', PAUSE], 'true, false, on, off or a pause such as 20m'),
    default: false,
    read: toPauseMs,
    about:
      'Leave old results of tools out once a conversation pauses for longer than the provider’s cache lives: `on` after five minutes, or after a longer pause.',
  }),
  remember: setting('compression.remember', {
    type: kind(['boolean', '|', /^(?:on|off)$/], 'true, false, on or off'),
    default: true,
    read: (value) => value === true || value === 'on',
    about:
      'Remember what was sent, so that it goes out so again before every thought that is signed over it, whatever is switched since. Off, conversations with thoughts are left alone.',
  }),
  rememberMb: setting('compression.remember_mb', {
    type: whole(1, 1024, 'megabytes'),
    default: 20,
    needsRestart: true,
    about:
      'Most megabytes that are remembered of conversations; those not continued longest go first.',
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
      'Rewrite requests that carry a subscription token too. Off, they go through byte for byte.',
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
