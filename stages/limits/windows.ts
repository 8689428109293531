/**
 * The limits that providers state with every answer: how much of a plan's window is used and when it
 * starts again, and how much of a rate limit is left. Names as of 2026-11: Anthropic's
 * `anthropic-ratelimit-unified-<window>-*` of subscriptions and `anthropic-ratelimit-<what>-*` of keys,
 * `x-codex-<primary or secondary>-*` of ChatGPT plans, `x-ratelimit-*` of chat providers.
 */
import type { Headers } from '../model/headers.ts';

/** One window as an answer stated it. */
export interface StatedWindow {
  /** A plan's window is used up over hours; a rate fills again within minutes. */
  readonly kind: 'plan' | 'rate';
  /** `5h`, `7d`, `7d_opus`, `requests`, `input-tokens` … */
  readonly name: string;
  /** The share that is used, 0 to 1 and more where a plan allows it. */
  readonly used: number;
  /** The window's length; undefined where neither name nor answer says it. */
  readonly minutes: number | undefined;
  /** When it starts again, in milliseconds since the epoch; undefined where that is not said. */
  readonly resetsAtMs: number | undefined;
  /** The provider's own word, such as `allowed_warning` or `rejected`. */
  readonly status: string | undefined;
}

type Fields = Map<string, string>;

const UNIFIED = /^anthropic-ratelimit-unified-(\d+[a-z]\w*)-(utilization|reset|status)$/;
const ANTHROPIC_RATE =
  /^anthropic-ratelimit-((?:input-|output-)?tokens|requests)-(limit|remaining|reset)$/;
const CODEX =
  /^x-codex-((?:[a-z\d]+-)*?(?:primary|secondary))-(used-percent|window-minutes|reset-at|reset-after-seconds)$/;
const RATE = /^x-ratelimit-(limit|remaining|reset)-(requests|tokens)$/;
/** Nearly every field of an answer is told apart from those by its first bytes. */
const MAY_LIMIT = /^(?:anthropic-ratelimit-|x-codex-|x-ratelimit-)/i;

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The windows that the head of an answer states; empty for nearly all answers to a key. Unknown fields are left alone. */
export function statedWindows(headers: Headers, nowMs: number): readonly StatedWindow[] {
  const unified = new Map<string, Fields>();
  const codex = new Map<string, Fields>();
  const rates = new Map<string, Fields>();
  for (let at = 0; at < headers.length; at += 2) {
    if (!MAY_LIMIT.test(headers[at]!)) continue;
    const name = headers[at]!.toLowerCase();
    const value = headers[at + 1]!.trim();
    const put = (to: Map<string, Fields>, window = '', field = '') => {
      const fields = to.get(window) ?? new Map<string, string>();
      to.set(window, fields.set(field, value));
    };
    const ofPlan = UNIFIED.exec(name);
    const ofCodex = CODEX.exec(name);
    const ofKey = ANTHROPIC_RATE.exec(name);
    const ofRate = RATE.exec(name);
    if (ofPlan !== null) put(unified, ofPlan[1], ofPlan[2]);
    else if (ofCodex !== null) put(codex, ofCodex[1], ofCodex[2]);
    else if (ofKey !== null) put(rates, ofKey[1], ofKey[2]);
    else if (ofRate !== null) put(rates, ofRate[2], ofRate[1]);
  }
  return [
    ...[...unified].flatMap(([name, fields]) => unifiedWindow(name, fields)),
    ...[...codex].flatMap(([name, fields]) => codexWindow(name, fields, nowMs)),
    ...[...rates].flatMap(([name, fields]) => rateWindow(name, fields, nowMs)),
  ];
}

function unifiedWindow(name: string, fields: Fields): StatedWindow[] {
  const used = amount(fields.get('utilization'));
  if (used === undefined) return [];
  const resetS = amount(fields.get('reset'));
  const [, count, unit] = /^(\d+)([hd])/.exec(name) ?? [];
  const minutes =
    count === undefined ? undefined : (Number(count) * (unit === 'h' ? MS.h : MS.d)) / MS.m;
  return [
    {
      kind: 'plan',
      name,
      used,
      minutes,
      resetsAtMs: resetS === undefined ? undefined : resetS * 1000,
      status: fields.get('status'),
    },
  ];
}

function codexWindow(name: string, fields: Fields, nowMs: number): StatedWindow[] {
  const percent = amount(fields.get('used-percent'));
  const minutes = amount(fields.get('window-minutes'));
  // A plan with one window states the other one as 0 minutes long.
  if (percent === undefined || minutes === 0) return [];
  const atS = amount(fields.get('reset-at'));
  const afterS = amount(fields.get('reset-after-seconds'));
  const after = afterS === undefined ? undefined : nowMs + afterS * 1000;
  const length = minutes === undefined ? name : lengthOf(minutes);
  // What stands before it names a limit of its own, as some models have.
  const prefix = name.replace(/-?(?:primary|secondary)$/, '');
  return [
    {
      kind: 'plan',
      name: prefix === '' ? length : `${length}_${prefix}`,
      used: percent / 100,
      minutes,
      resetsAtMs: atS === undefined ? after : atS * 1000,
      status: undefined,
    },
  ];
}

function rateWindow(name: string, fields: Fields, nowMs: number): StatedWindow[] {
  const limit = amount(fields.get('limit'));
  const remaining = amount(fields.get('remaining'));
  if (limit === undefined || limit === 0 || remaining === undefined) return [];
  return [
    {
      kind: 'rate',
      name,
      used: Math.max(0, limit - remaining) / limit,
      minutes: undefined,
      resetsAtMs: resetOf(fields.get('reset') ?? '', nowMs),
      status: undefined,
    },
  ];
}

/** A date of RFC 3339, or a wait such as `1s`, `6m0s` or `20ms`. */
function resetOf(text: string, nowMs: number): number | undefined {
  if (/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhd])){1,5}$/.test(text)) {
    const parts = text.matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|[smhd])/g);
    const waitMs = [...parts].reduce(
      (sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS],
      0,
    );
    return nowMs + waitMs;
  }
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

function lengthOf(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

/** A figure that is neither negative nor beyond reason; undefined for anything else. */
function amount(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,13}(?:\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}
