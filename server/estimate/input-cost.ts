/**
 * The cost of a part of a request's input by the provider's own usage: in order, the first input
 * tokens were read from its cache, the next written to it, the rest plain.
 */
import type { PricedProvider } from '../../stages/ledger/prices/price-list.ts';
import type { Usage } from '../../stages/model/usage.ts';
import type { Conversation } from '../sessions/session.ts';

/** A part of the input, in tokens. */
export interface InputPart {
  /** From the beginning of the part to the end of the request. */
  readonly fromEnd: number;
  readonly tokens: number;
  /** Tokens of the part that would not have been sent. */
  readonly saved: number;
}

/**
 * Returns `usage` without the saved tokens, subtracted at the positions of the parts. `total` is
 * the sum of its input tokens.
 */
export function withoutParts(usage: Usage, total: number, parts: readonly InputPart[]): Usage {
  const read = usage.cacheReadTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const zones = [read, read + written, total];
  const taken = [0, 0, 0];
  for (const { fromEnd, tokens, saved } of parts) {
    const from = Math.max(0, total - fromEnd);
    const to = Math.max(from, total - fromEnd + tokens);
    let zoneFrom = 0;
    for (const [zone, zoneTo] of zones.entries()) {
      const overlap = Math.min(to, zoneTo) - Math.max(from, zoneFrom);
      if (overlap > 0) taken[zone]! += (saved * overlap) / tokens;
      zoneFrom = zoneTo;
    }
  }
  const less = (tokens: number | null, zone: number): number | null =>
    tokens === null ? null : Math.max(0, tokens - taken[zone]!);
  const share = written === 0 ? 1 : less(written, 1)! / written;
  return {
    ...usage,
    cacheReadTokens: less(usage.cacheReadTokens, 0),
    cacheWriteTokens: less(usage.cacheWriteTokens, 1),
    cacheWrite1hTokens: usage.cacheWrite1hTokens === null ? null : usage.cacheWrite1hTokens * share,
    inputTokens: less(usage.inputTokens, 2),
  };
}

/**
 * Returns `usage` as if the prefix had changed `fromEnd` tokens before the end: nothing after that
 * was cached.
 */
export function withRewritten(usage: Usage, total: number, fromEnd: number): Usage {
  const { cacheReadTokens: read, cacheWriteTokens: written, cacheWrite1hTokens: forAnHour } = usage;
  const lost = (read ?? 0) - Math.max(0, total - fromEnd);
  if (read === null || lost <= 0) return usage;
  const left = { ...usage, cacheReadTokens: read - lost };
  if (written === null) return { ...left, inputTokens: (usage.inputTokens ?? 0) + lost };
  const share = written === 0 || forAnHour === null ? 0 : forAnHour / written;
  return {
    ...left,
    cacheWriteTokens: written + lost,
    cacheWrite1hTokens: forAnHour === null ? null : forAnHour + lost * share,
  };
}

const KIND_OF_DIALECT = {
  messages: 'messages',
  generative: 'generative',
  chat: 'chat',
  responses: 'chat',
} as const;
const KIND_OF_VENDOR: Readonly<Record<string, string>> = {
  anthropic: 'messages',
  google: 'generative',
  openai: 'chat',
};

/** The provider decides which configured prices apply. */
export function providerOf({
  dialect,
  vendor,
}: Pick<Conversation, 'dialect' | 'vendor'>): PricedProvider {
  const kind = KIND_OF_VENDOR[vendor ?? ''] ?? KIND_OF_DIALECT[dialect];
  return { name: kind, kind };
}
