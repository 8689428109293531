/** The public tokenizer for a model, loaded once. */
import { loadTokenCounter, tokenizerFamily } from '../../stages/model/count-tokens.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';

/** Returns the counter for a model; the first call for a family takes some 150 ms. */
export function createCounters(): (model: string) => Promise<CountTokens> {
  const counters = new Map<string, Promise<CountTokens>>();
  return (model) => {
    const family = tokenizerFamily(model);
    const counter = counters.get(family) ?? loadTokenCounter(family);
    counters.set(family, counter);
    return counter;
  };
}
