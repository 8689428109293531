/**
 * Which reasoning, effort and sampling parameters a model of the messages dialect takes, and what
 * it is sent.
 */
import { claudeRequests, nearestEffort } from '../../model/claude-requests.ts';
import type { ClaudeEffort, ClaudeRequests } from '../../model/claude-requests.ts';
import { maxOutputOf } from './max-output.ts';
import type { CanonicalMessage, CanonicalRequest, Effort, JsonObject, Note } from '../canonical.ts';
import { defined } from '../json-kind.ts';

export interface Thinking {
  readonly field?: JsonObject;
  readonly effort?: ClaudeEffort;
}

/** The API refuses smaller budgets. */
const MIN_BUDGET = 1024;

const BUDGET_OF: Record<Effort, number> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/**
 * Newer models adapt their thinking themselves and take an effort; older ones need a budget below
 * max_tokens.
 */
export function writeThinking(request: CanonicalRequest, note: Note): Thinking {
  const { reasoning } = request;
  if (reasoning === undefined) return {};
  const capabilities = claudeRequests(request.model);
  if (!reasoning.on || reasoning.effort === 'none') return thinkingOff(capabilities, note);
  if (capabilities === undefined || capabilities.thinking === 'none') {
    note('reasoning left out: this model is not known to take it');
    return {};
  }
  if (request.toolChoice?.mode === 'any') {
    note('reasoning left out: not allowed while a tool call is forced');
    return {};
  }
  return capabilities.thinking === 'budget'
    ? withBudget(request, note)
    : adaptive(capabilities, reasoning, note);
}

/**
 * Models that think by default need an explicit setting to stop; one that cannot stop gets the
 * lowest effort.
 */
function thinkingOff(capabilities: ClaudeRequests | undefined, note: Note): Thinking {
  switch (capabilities?.thinkingOff) {
    case 'disabled':
    case 'between_tools':
      return { field: { type: capabilities.thinkingOff } };
    case 'never':
      note('reasoning cannot be turned off with this model: its lowest effort is requested');
      return { effort: 'low' };
    default:
      return {};
  }
}

function adaptive(
  capabilities: ClaudeRequests,
  { effort, isShown }: NonNullable<CanonicalRequest['reasoning']>,
  note: Note,
): Thinking {
  const requested = effortFor(effort);
  const nearest = requested && nearestEffort(capabilities, requested);
  if (nearest !== requested)
    note(`reasoning effort ${requested} lowered to ${nearest}: this model has no other`);
  // From these models on, the provider omits the text of the thinking unless it is requested.
  const isSilent = capabilities.thinking === 'adaptive' && isShown === true;
  const field = defined({ type: 'adaptive', display: isSilent ? 'summarized' : undefined });
  return nearest === undefined ? { field } : { field, effort: nearest };
}

function withBudget(request: CanonicalRequest, note: Note): Thinking {
  if (inToolLoop(request.messages)) {
    note('reasoning left out: this model requires its own thinking before a tool result');
    return {};
  }
  const max = request.maxOutputTokens ?? maxOutputOf(request.model);
  const { budgetTokens, effort } = request.reasoning ?? {};
  const budget = thinkingBudget(max, budgetTokens, effort);
  if (budget !== undefined) return { field: { type: 'enabled', budget_tokens: budget } };
  note('reasoning left out: the output limit has no room for it');
  return {};
}

/** Share of the output limit reserved for the answer if the client gives no thinking budget. */
const ANSWER_SHARE = 1 / 4;

/**
 * Returns the tokens for thinking out of the output limit `max`; undefined if there is no room for
 * any.
 */
export function thinkingBudget(
  max: number,
  requestedBudget: number | undefined,
  effort: Effort = 'medium',
): number | undefined {
  const room = max - 1;
  if (room < MIN_BUDGET) return undefined;
  const budget =
    requestedBudget ?? Math.min(BUDGET_OF[effort], Math.floor(max * (1 - ANSWER_SHARE)));
  return Math.max(MIN_BUDGET, Math.min(budget, room));
}

/** The dialect's effort levels begin at `low`. */
function effortFor(effort: Effort | undefined): ClaudeEffort | undefined {
  return effort === 'minimal' || effort === 'none' ? 'low' : effort;
}

/**
 * Returns true if the model is to continue after tool results without its own thinking before the
 * calls.
 */
function inToolLoop(messages: readonly CanonicalMessage[]): boolean {
  const last = messages.at(-1);
  return last?.blocks.some((block) => block.kind === 'toolResult') ?? false;
}

/**
 * The API accepts temperatures up to 1, one of temperature and top_p, neither with
 * thinking, and with newer models none at all.
 */
export function writeSampling(request: CanonicalRequest, thinks: boolean, note: Note): JsonObject {
  const { temperature, topP, topK } = request;
  for (const name of ['seed', 'frequencyPenalty', 'presencePenalty'] as const) {
    if ((request[name] ?? 0) !== 0) note(`${name} left out: the messages dialect has none`);
  }
  if (claudeRequests(request.model)?.takesSampling === false) {
    if (temperature !== undefined || topP !== undefined || topK !== undefined)
      note('temperature, top_p and top_k left out: this model accepts none of them');
    return {};
  }
  if (thinks) {
    if (temperature !== undefined || topK !== undefined) {
      note('temperature and top_k left out: not allowed beside thinking');
    }
    return {};
  }
  if (temperature !== undefined && topP !== undefined) {
    note('top_p left out: current models accept it or temperature, not both');
  }
  if ((temperature ?? 0) > 1) note(`temperature ${temperature} lowered to 1, the maximum`);
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  };
}
