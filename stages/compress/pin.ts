/**
 * What a conversation began with stays with it: mode and settings are pinned at
 * its first eligible request. Otherwise a changed setting would change bytes that
 * the provider has already cached.
 */
import type { Decisions } from '../decisions/decisions.ts';
import type { JobOptions } from './job.ts';
import { isMode } from './settings.ts';
import { COMPRESSION_VERSION } from './version.ts';

export interface Pinned {
  readonly options: PinOptions;
  /** Why the bytes of the prefix change once, if they do. */
  readonly change: 'mode' | 'version' | undefined;
}

/** What is pinned: rules by their id, so that a pin stays small. */
export type PinOptions = Omit<JobOptions, 'applied'> & { readonly applied?: string };

interface Pin extends PinOptions {
  readonly version: number;
}

function readPin(text: string | undefined): Pin | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { version, mode, maxChars, thresholdTokens, logBudgetTokens } = parsed as Partial<Pin>;
    const whole = [version, maxChars, thresholdTokens, logBudgetTokens];
    if (!isMode(mode) || !whole.every((value) => typeof value === 'number')) return undefined;
    return parsed as Pin;
  } catch {
    return undefined;
  }
}

/**
 * The options of a conversation: those it began with, or `wanted` if it begins
 * now. `asked` is the mode that this request names itself; it pins anew.
 */
export function pinOptions(
  decisions: Decisions,
  conversation: string,
  wanted: PinOptions,
  asked: JobOptions['mode'] | undefined,
): Pinned {
  const key = `compress:${conversation}`;
  const pin = readPin(decisions.get(key));
  const { mode, maxChars, thresholdTokens, logBudgetTokens } = pin ?? wanted;
  // A conversation that began without rules goes on without them.
  const { applied } = pin ?? wanted;
  const options = {
    mode: asked ?? mode,
    maxChars,
    thresholdTokens,
    logBudgetTokens,
    ...(applied === undefined ? {} : { applied }),
  };
  decisions.set(key, JSON.stringify({ version: COMPRESSION_VERSION, ...options }));
  if (pin === undefined) return { options, change: undefined };
  if (pin.version !== COMPRESSION_VERSION) return { options, change: 'version' };
  return { options, change: pin.mode === options.mode ? undefined : 'mode' };
}
