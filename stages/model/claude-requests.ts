/**
 * Which parameters Claude models refuse that others of their dialect accept: one function of the
 * family and the version, so that a future model is treated as the newest of its kind. Sources: the
 * guides for moving to Opus 4.7, Opus 5, Opus 5.5, Sonnet 5.5, Haiku 5.5 and Fable 5.1, and the
 * pages on thinking and effort [platform.claude.com, 2026-11-28].
 */
import { claudeOf } from './model-facts.ts';

/** How thinking is turned off: by a value of the parameter, by omitting it, or not at all. */
export type ThinkingOff = 'disabled' | 'between_tools' | 'unsaid' | 'never';

/** An effort of the messages dialect. */
export type ClaudeEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface ClaudeRequests {
  /** True if it accepts temperature, top_p and top_k. */
  readonly takesSampling: boolean;
  /** True if a conversation may end with the beginning of the answer (prefill). */
  readonly takesBeginning: boolean;
  /** True if a tool call can be forced: any, or that of one tool. */
  readonly takesDemand: boolean;
  /** True if fast mode exists (`speed: fast`). */
  readonly takesFast: boolean;
  /** How thinking is requested. `either`: with a budget, or adaptive. */
  readonly thinking: 'none' | 'budget' | 'either' | 'adaptive';
  readonly thinkingOff: ThinkingOff;
  /** Its effort levels, lowest first; empty if it has none. */
  readonly efforts: readonly ClaudeEffort[];
}

const EFFORTS: readonly ClaudeEffort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Returns what a Claude model accepts; undefined for a model of another vendor, and for a name
 * without a version.
 */
export function claudeRequests(model: string | undefined): ClaudeRequests | undefined {
  const claude = claudeOf(model?.toLowerCase() ?? '');
  if (claude === undefined) return undefined;
  const { family, version } = claude;
  const isFirst = family === 'fable' || family === 'mythos';
  return {
    takesSampling: version < 4.7,
    takesBeginning: version < 4.6,
    takesDemand: family === 'haiku' || version < (isFirst ? 5.1 : 5.5),
    takesFast: family === 'opus' && version >= 4.6,
    thinking: thinkingOf(version),
    thinkingOff: thinkingOffOf(family, version),
    efforts: effortsOf(family, version),
  };
}

function thinkingOf(version: number): ClaudeRequests['thinking'] {
  if (version < 3.7) return 'none';
  if (version < 4.6) return 'budget';
  return version < 4.7 ? 'either' : 'adaptive';
}

function thinkingOffOf(family: string, version: number): ThinkingOff {
  if (version < 5) return 'unsaid';
  if (family === 'haiku') return 'disabled';
  if (family === 'sonnet') return version < 5.5 ? 'disabled' : 'between_tools';
  return family === 'opus' && version < 5.5 ? 'disabled' : 'never';
}

function effortsOf(family: string, version: number): readonly ClaudeEffort[] {
  if (version >= 4.7) return EFFORTS;
  if (version >= 4.6) return EFFORTS.filter((effort) => effort !== 'xhigh');
  return family === 'opus' && version >= 4.5 ? ['low', 'medium', 'high'] : [];
}

/**
 * Returns the nearest effort of `takes` that does not exceed `wanted`; undefined if the model has
 * none.
 */
export function nearestEffort(
  { efforts }: Pick<ClaudeRequests, 'efforts'>,
  wanted: ClaudeEffort,
): ClaudeEffort | undefined {
  return efforts.findLast((effort) => EFFORTS.indexOf(effort) <= EFFORTS.indexOf(wanted));
}
