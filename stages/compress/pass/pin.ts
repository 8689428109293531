/**
 * What a conversation began with stays with it: mode and settings are pinned at
 * its first eligible request. Otherwise a changed setting would change bytes that
 * the provider has already cached. How far it was sent stands with them. One setting
 * wins over every pin at once: a user who turns rewriting off expects it to be off.
 */
import type { Memory } from '../../conversations/conversations.ts';
import type { Pin } from '../../conversations/record.ts';
import type { JobOptions } from '../worker/job.ts';
import { COMPRESSION_VERSION } from '../version.ts';

export interface Pinned {
  readonly options: PinOptions;
  /** Why the bytes of the prefix change once, if they do; `strict` where the setting wins over the pin. */
  readonly change: 'mode' | 'version' | 'strict' | 'context_editing' | undefined;
}

/** What is pinned: rules by their id, so that a pin stays small. */
export type PinOptions = Omit<JobOptions, 'applied' | 'recipes'> & {
  readonly applied?: string;
  readonly recipes?: string;
  /** What is done to the definitions of tools. */
  readonly tools?: 'off' | 'trim';
};

/** What a conversation is pinned to if it begins now; its threshold takes a look at all its tools. */
export type WantedOptions = Omit<PinOptions, 'thresholdTokens'> & {
  readonly thresholdTokens: () => number;
};

/**
 * The options of a conversation: those it began with, or `wanted` if it begins
 * now. `asked` is the mode that this request names itself; it pins anew. So does
 * a wanted mode of `strict`. Once the provider may forget, it may from then on.
 */
export function pinOptions(
  memory: Memory,
  wanted: WantedOptions,
  asked: JobOptions['mode'] | undefined,
): Pinned {
  const { pin } = memory.record;
  const { mode, maxChars, logBudgetTokens } = pin ?? wanted;
  const thresholdTokens = pin?.thresholdTokens ?? wanted.thresholdTokens();
  // A conversation that began without rules goes on without them.
  const { applied, recipes, userProse, longResultsTokens = 0, tools } = pin ?? wanted;
  const forgets = wanted.forgets === true || pin?.forgets === true;
  const options = {
    mode: asked ?? (wanted.mode === 'strict' ? 'strict' : mode),
    maxChars,
    thresholdTokens,
    logBudgetTokens,
    ...(applied === undefined ? {} : { applied }),
    ...(recipes === undefined ? {} : { recipes }),
    ...(userProse === true ? { userProse } : {}),
    ...(tools === 'trim' ? { tools } : {}),
    ...(longResultsTokens > 0 ? { longResultsTokens } : {}),
    ...(forgets ? { forgets } : {}),
  };
  const sent = pin?.sent === undefined ? {} : { sent: pin.sent };
  setPin(memory, { version: COMPRESSION_VERSION, ...options, ...sent });
  if (pin === undefined) return { options, change: undefined };
  if (pin.mode !== options.mode)
    return { options, change: asked === undefined ? 'strict' : 'mode' };
  if (pin.version !== COMPRESSION_VERSION) return { options, change: 'version' };
  return { options, change: forgets && pin.forgets !== true ? 'context_editing' : undefined };
}

/** Pins a conversation that was rewritten so far to `strict`; true if it was. One that has no pin gets none. */
export function pinStrict(memory: Memory): boolean {
  const { pin } = memory.record;
  if (pin === undefined || pin.mode === 'strict') return false;
  memory.set({ pin: { ...pin, mode: 'strict' } });
  return true;
}

/** Nothing is written down where nothing has changed. */
function setPin(memory: Memory, pin: Pin): void {
  if (JSON.stringify(memory.record.pin) !== JSON.stringify(pin)) memory.set({ pin });
}
