/** Usage windows of plans in words: how full each is, and how long it will last. */
import type { LiveState } from '../contract.ts';
import { timeOfDay } from '../../words/time-of-day.ts';
import { currentPlans, isUsedUp, planName } from '../../words/problems.ts';
import type { Tone } from '../../words/problems.ts';
import { share } from './format.ts';

/** From this share on, a window is nearly used up. */
const NEARLY = 0.8;

export interface PlanWindow {
  readonly id: string;
  /** `5h of messages`. */
  readonly name: string;
  /** Owner: the label of a key, or a client's hash. */
  readonly key: string;
  /** Used share: 1 is full; may exceed 1. */
  readonly used: number;
  readonly value: string;
  /** Such as `used up at about 16:40 at this pace` or `lasts, resets 18:00`. */
  readonly detail: string;
  readonly sparedTokens: number;
  readonly tone: Tone | undefined;
}

/** Returns the current windows: those used up first come first, then the fullest. */
export function planWindows(live: LiveState, nowMs: number): readonly PlanWindow[] {
  const { limits = [] } = live;
  return currentPlans(limits, nowMs)
    .toSorted((a, b) => endOf(a) - endOf(b) || b.used - a.used)
    .map((limit) => ({
      id: `${limit.provider} ${limit.key} ${limit.window}`,
      name: planName(limit),
      key: limit.key,
      used: limit.used,
      value: share(limit.used),
      detail: detailOf(limit, nowMs),
      sparedTokens: limit.spared_tokens,
      tone: toneOf(limit),
    }));
}

type Limit = NonNullable<LiveState['limits']>[number];

function endOf({ used_up_at: at }: Limit): number {
  return at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at);
}

function toneOf(limit: Limit): Tone | undefined {
  if (isUsedUp(limit)) return 'bad';
  return limit.used >= NEARLY || limit.used_up_at !== null ? 'warn' : undefined;
}

function detailOf(limit: Limit, nowMs: number): string {
  const { used_up_at: end, resets_at: resets, used_per_hour: pace } = limit;
  const at = (iso: string) => timeOfDay(Date.parse(iso), nowMs);
  const again = resets === null ? '' : `, resets ${at(resets)}`;
  if (isUsedUp(limit)) return `used up${again}`;
  if (end !== null) return `used up at about ${at(end)} at this pace${again}`;
  return pace === null ? again.slice(2) : `lasts${again}`;
}
