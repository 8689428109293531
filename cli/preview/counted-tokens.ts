/** Blocks with the exact token counts of a model's tokenizer: for display, never for decisions. */
import { loadTokenCounter, tokenizerFamily } from '../../stages/model/count-tokens.ts';

/** Tokens before and after; `saved` is never negative. */
export interface CountedTokens {
  readonly before: number;
  readonly after: number;
  readonly saved: number;
}

/** Loads the best tokenizer for `model`, which takes some 150 ms. */
export async function createCounter(model: string | null) {
  const family = tokenizerFamily(model ?? '');
  const count = await loadTokenCounter(family);
  return {
    family,
    count({ before, after }: { readonly before: string; readonly after: string }): CountedTokens {
      const tokens = count(before);
      const left = after === before ? tokens : count(after);
      return { before: tokens, after: left, saved: Math.max(0, tokens - left) };
    },
  };
}

/** Returns the sum of several counts. */
export function sumTokens(list: readonly CountedTokens[]): CountedTokens {
  const before = list.reduce((sum, each) => sum + each.before, 0);
  const after = list.reduce((sum, each) => sum + each.after, 0);
  return { before, after, saved: Math.max(0, before - after) };
}

/** Formats `51%`, or `0.4%` where a whole number would hide it; a dash if there was nothing. */
export function percentSaved({ before, saved }: CountedTokens): string {
  if (before === 0) return '–';
  const percent = (100 * saved) / before;
  return percent > 0 && percent < 1 ? `${percent.toFixed(1)}%` : `${Math.round(percent)}%`;
}
