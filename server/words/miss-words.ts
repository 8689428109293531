/** Why a provider's prompt cache was missed, in words, for both dashboards and the command line. */
import type { RequestJson } from '../../stages/ledger/request-json.ts';
import { dollars, short } from './amounts.ts';

/** Causes by their wire names. */
const WORDS: Readonly<Record<string, string>> = {
  first_request: 'first request',
  pause: 'pause beyond the lifetime',
  model: 'another model',
  system: 'system prompt changed',
  tools: 'tools changed',
  thinking: 'thinking parameters changed',
  tool_choice_or_images: 'tool_choice or images changed',
  message: 'earlier message changed',
  below_least_length: 'below the least length',
  no_marker: 'no cache marker',
  key_or_provider: 'other key or provider',
  evicted: 'evicted (nothing differs)',
};

export const causeInWords = (cause: string): string => WORDS[cause] ?? cause;

/** Formats `tools changed (added: Grep), 12k tokens missed, $0.04`. */
export function missInWords(miss: NonNullable<RequestJson['cache_miss']>): string {
  const { cause, detail, missed_tokens: tokens, cost } = miss;
  const what = causeInWords(cause) + (detail === null ? '' : ` (${detail})`);
  if (tokens === null || tokens === 0) return what;
  return `${what}, ${short(tokens)} tokens missed${cost === null ? '' : `, ${dollars(cost)}`}`;
}
