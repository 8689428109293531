/** The settings of the compress stage. */
import type { Mode } from './rule.ts';

export interface CompressConfig {
  readonly enabled: boolean;
  readonly mode: Mode;
  /** Soft length of a narrative chunk, in characters. */
  readonly maxChars: number;
  /** Blocks are eligible from this many estimated tokens of the conversation on. */
  readonly thresholdTokens: number;
  /** Estimated tokens that a reduced log may have. */
  readonly logBudgetTokens: number;
  /** True where prose that a user wrote or pasted may be shortened too. */
  readonly userProse: boolean;
  /** Entries of the speed cache; 0 for none. */
  readonly cacheEntries: number;
  /** Longest wait for the compression of one request, in milliseconds; 0 waits as long as it takes. */
  readonly maxTimeMs: number;
}

const MODES: readonly string[] = ['strict', 'hybrid', 'aggressive'];

/** True for the name of a mode. */
export function isMode(value: unknown): value is Mode {
  return typeof value === 'string' && MODES.includes(value);
}
