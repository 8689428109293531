/**
 * The limits that providers state with every response: how much of a plan's window is used and when
 * it resets, and how much of a rate limit is left. Names as of 2026-11: Anthropic's
 * `anthropic-ratelimit-unified-<window>-*` of subscriptions and `anthropic-ratelimit-<what>-*` of
 * keys, `x-codex-<primary or secondary>-*` of ChatGPT plans, `x-ratelimit-*` of chat providers.
 */
import type { Headers } from '../model/headers.ts';
import { plausibleMinutes, plausibleTime } from './pace.ts';

/** One window as stated by a response. */
export interface StatedWindow {
  /** A plan's window is used up over hours; a rate recovers within minutes. */
  readonly kind: 'plan' | 'rate';
  /** `5h`, `7d`, `7d_opus`, `requests`, `input-tokens` … */
  readonly name: string;
  /** The share used, 0 to 1, or more if a plan allows it. */
  readonly used: number;
  /** The window's length; undefined if neither name nor response gives it. */
  readonly minutes: number | undefined;
  /** When it resets, in milliseconds since the epoch; undefined if not stated. */
  readonly resetsAtMs: number | undefined;
  /** The provider's own status, such as `allowed_warning` or `rejected`. */
  readonly status: string | undefined;
}

type Fields = ReadonlyMap<string, string>;

/**
 * One format in which headers state windows: their names, and the meaning of the headers of one
 * window.
 */
interface Form {
  /** With the groups `window` and `field`. */
  readonly pattern: RegExp;
  readonly read: (window: string, fields: Fields, nowMs: number) => StatedWindow | undefined;
}

const FORMS: readonly Form[] = [
  {
    pattern:
      /^anthropic-ratelimit-unified-(?<window>\d+[a-z]\w*)-(?<field>utilization|reset|status)$/,
    read: unifiedWindow,
  },
  {
    pattern:
      /^x-codex-(?<window>(?:[a-z\d]+-)*?(?:primary|secondary))-(?<field>used-percent|window-minutes|reset-at|reset-after-seconds)$/,
    read: codexWindow,
  },
  {
    pattern: /^x-ratelimit-(?<field>limit|remaining|reset)-(?<window>requests|tokens)$/,
    read: rateWindow,
  },
  {
    pattern:
      /^anthropic-ratelimit-(?<window>(?:input-|output-)?tokens|requests)-(?<field>limit|remaining|reset)$/,
    read: rateWindow,
  },
];
/** Common prefixes, which hardly any other header has. */
const MAY_LIMIT = /^(?:anthropic-ratelimit-|x-codex-|x-ratelimit-)/i;

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Returns the windows that the head of a response states; most heads state none. Unknown headers
 * are ignored.
 */
export function statedWindows(headers: Headers, nowMs: number): readonly StatedWindow[] {
  const stated: [name: string, value: string][] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (MAY_LIMIT.test(headers[at]!))
      stated.push([headers[at]!.toLowerCase(), headers[at + 1]!.trim()]);
  if (stated.length === 0) return [];
  return FORMS.flatMap(({ pattern, read }) => {
    const windows = new Map<string, Map<string, string>>();
    for (const [name, value] of stated) {
      const { window, field } = pattern.exec(name)?.groups ?? {};
      if (window === undefined || field === undefined) continue;
      windows.set(window, (windows.get(window) ?? new Map<string, string>()).set(field, value));
    }
    return [...windows].flatMap(([window, fields]) => read(window, fields, nowMs) ?? []);
  });
}

function unifiedWindow(name: string, fields: Fields, nowMs: number): StatedWindow | undefined {
  const used = amount(fields.get('utilization'));
  if (used === undefined) return undefined;
  const resetS = amount(fields.get('reset'));
  const [, count, unit] = /^(\d+)([hd])/.exec(name) ?? [];
  const minutes =
    count === undefined ? undefined : (Number(count) * (unit === 'h' ? MS.h : MS.d)) / MS.m;
  return {
    kind: 'plan',
    name,
    used,
    minutes: plausibleMinutes(minutes),
    resetsAtMs: plausibleTime(resetS === undefined ? undefined : resetS * 1000, nowMs),
    status: fields.get('status'),
  };
}

function codexWindow(name: string, fields: Fields, nowMs: number): StatedWindow | undefined {
  const percent = amount(fields.get('used-percent'));
  const stated = amount(fields.get('window-minutes'));
  // A plan with one window reports the other one as 0 minutes long.
  if (percent === undefined || stated === 0) return undefined;
  const minutes = plausibleMinutes(stated);
  const atS = amount(fields.get('reset-at'));
  const afterS = amount(fields.get('reset-after-seconds'));
  const after = afterS === undefined ? undefined : nowMs + afterS * 1000;
  const length = minutes === undefined ? name : lengthOf(minutes);
  // The part before it names a separate limit, as some models have.
  const prefix = name.replace(/-?(?:primary|secondary)$/, '');
  return {
    kind: 'plan',
    name: prefix === '' ? length : `${length}_${prefix}`,
    used: percent / 100,
    minutes,
    resetsAtMs: plausibleTime(atS === undefined ? after : atS * 1000, nowMs),
    status: undefined,
  };
}

function rateWindow(name: string, fields: Fields, nowMs: number): StatedWindow | undefined {
  const limit = amount(fields.get('limit'));
  const remaining = amount(fields.get('remaining'));
  if (limit === undefined || limit === 0 || remaining === undefined) return undefined;
  return {
    kind: 'rate',
    name,
    used: Math.max(0, limit - remaining) / limit,
    minutes: undefined,
    resetsAtMs: plausibleTime(resetOf(fields.get('reset') ?? '', nowMs), nowMs),
    status: undefined,
  };
}

/** Parses a date of RFC 3339, or a wait such as `1s`, `6m0s` or `20ms`. */
function resetOf(text: string, nowMs: number): number | undefined {
  if (/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhd])){1,5}$/.test(text)) {
    const parts = text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|[smhd])/g);
    const waitMs = [...parts].reduce(
      (sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS],
      0,
    );
    return nowMs + waitMs;
  }
  return RFC_3339.test(text) ? Date.parse(text) : undefined;
}

function lengthOf(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

/** Parses a number that is neither negative nor unreasonable; undefined for anything else. */
function amount(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,13}(?:\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}
