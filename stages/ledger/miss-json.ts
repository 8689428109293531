/** Cache misses in the format of the public responses, with advice for each cause. */
import type { MissCause } from '../model/cached-turn.ts';
import { toUsd } from './figures.ts';
import type { CauseSums, MissReport } from './misses.ts';

/** Advice for each cause. */
export const ADVICE: Readonly<Record<MissCause, string>> = {
  first_request: 'nothing: a new conversation has nothing in the cache yet',
  pause:
    'answer within the lifetime, or have the client ask for longer ones (Claude Code: ENABLE_PROMPT_CACHING_1H; OpenAI: prompt_cache_retention); /compact before a long break',
  model:
    'switch models at the start of a conversation, not in the middle; use a subagent for another model',
  system:
    'keep dates, counters and lists that change out of the system prompt; edit CLAUDE.md and rules between sessions',
  tools:
    'connect and disconnect MCP servers between sessions; keep the order of tools, and their descriptions free of what changes',
  thinking: 'choose thinking and effort at the start of a conversation, not between turns',
  tool_choice_or_images: 'keep tool_choice the same; show images in a conversation of their own',
  message:
    'avoid editing or rewinding what was sent; where svc is named as the one who changed it, see what was switched (mode, bypass, recipes)',
  below_least_length: 'nothing: the model does not cache so short a prompt, and little is lost',
  no_marker:
    'let svc set the markers (inject.cache_breakpoints), or turn on prompt caching in the client',
  key_or_provider:
    'let one key and provider serve a conversation; caches are not shared between accounts',
  evicted: 'nothing: the provider needed the room, or served the request from another machine',
};

/** Returns one miss in the format of the public responses. */
export function missJson(
  cause: MissCause,
  detail: string | null,
  missedTokens: number | null,
  costNanoUsd: number | null,
) {
  return { cause, detail, missed_tokens: missedTokens, cost: toUsd(costNanoUsd) };
}

/** Returns the body of `/savings/misses` and `svc savings --misses --json`; dollars. */
export function missReportJson({ byCause, requests, inputTokens, costNanoUsd }: MissReport) {
  const total = (of: (sums: CauseSums) => number) =>
    byCause.reduce((sum, sums) => sum + of(sums), 0);
  const lost = total((sums) => sums.costNanoUsd);
  return {
    requests,
    missed_requests: total((sums) => sums.requests),
    input_tokens: inputTokens,
    missed_tokens: total((sums) => sums.missedTokens),
    cost_usd: toUsd(costNanoUsd),
    cost_missed_usd: toUsd(lost),
    /** Share of the cost, 0 to 1; null if nothing has a price. */
    share_of_cost: costNanoUsd === 0 ? null : lost / costNanoUsd,
    unpriced: total((sums) => sums.unpriced),
    causes: byCause.map((sums) => ({
      cause: sums.cause,
      requests: sums.requests,
      missed_tokens: sums.missedTokens,
      cost_missed_usd: toUsd(sums.costNanoUsd),
      unpriced: sums.unpriced,
      advice: ADVICE[sums.cause],
    })),
  };
}

export type MissReportJson = ReturnType<typeof missReportJson>;
