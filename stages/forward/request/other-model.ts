/**
 * A request of the messages dialect for a model other than the client's: a fallback, a rule, an
 * alias. The client wrote it for its own model, and each generation of Claude refuses some
 * parameters that another accepts. Parameters that only steer how the model thinks and writes are
 * converted; anything that changes the task makes the other model unfit.
 */
import { thinkingBudget } from '../../dialect/messages/translate-thinking.ts';
import { isObject, listOf, objectOf } from '../../dialect/json-kind.ts';
import type { JsonObject } from '../../dialect/json-kind.ts';
import { claudeRequests, nearestEffort } from '../../model/claude-requests.ts';
import type { ClaudeEffort, ClaudeRequests } from '../../model/claude-requests.ts';
import { isRewritable, modelOf, setParam } from '../../model/request.ts';
import type { ProxyRequest } from '../../model/request.ts';

/** The request as the other model accepts it, and what was changed; or why it cannot be sent. */
export type ForModel =
  | { readonly request: ProxyRequest; readonly notes: readonly string[] }
  | { readonly skip: string };

/**
 * Converts `request`, which goes to `model` instead of the one that the client names, or, if not
 * `isPrimary`, to another provider than the client's.
 */
export function forModel(
  request: ProxyRequest,
  model: string | undefined,
  isPrimary: boolean,
): ForModel {
  const { endpoint, json } = request.original;
  if (endpoint.dialect !== 'messages' || !isObject(json) || !isRewritable(request))
    return { request, notes: [] };
  const isOther = model !== undefined && model !== modelOf(request);
  const credited = isPrimary && !isOther ? request : withoutCredit(request, json);
  const capabilities = claudeRequests(model);
  const notes = credited === request ? [] : [NO_CREDIT];
  if (!isOther || capabilities === undefined) return { request: credited, notes };
  const skip = whyUnfit(json, capabilities, model);
  if (skip !== undefined) return { skip };
  const params = paramsFor(json, capabilities);
  const changed = Object.entries(params).filter(([name, value]) => !isSame(value, json[name]));
  return {
    request: changed.reduce((edited, [name, value]) => setParam(edited, name, value), credited),
    notes: [
      ...notes,
      ...changed.map(([name, value]) =>
        value === undefined
          ? `${name} left out: ${model} does not accept it`
          : `${name} changed to what ${model} accepts: ${JSON.stringify(value).slice(0, 200)}`,
      ),
    ],
  };
}

const CREDIT = 'fallback_credit_token';
const NO_CREDIT = `${CREDIT} left out: it is valid only at its own provider, for the model that the client chose`;

/**
 * A credit from a provider's refusal is for the next attempt there; anywhere else it is refused.
 */
function withoutCredit(request: ProxyRequest, json: JsonObject): ProxyRequest {
  return (json[CREDIT] ?? null) === null ? request : setParam(request, CREDIT, undefined);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function whyUnfit(
  json: JsonObject,
  capabilities: ClaudeRequests,
  model: string,
): string | undefined {
  const demand = objectOf(json['tool_choice'])['type'];
  if (!capabilities.takesDemand && (demand === 'any' || demand === 'tool'))
    return `${model} cannot be forced to call a tool`;
  if (!capabilities.takesBeginning && endsInBeginning(json['messages']))
    return `${model} does not accept a prefilled answer`;
  return undefined;
}

/**
 * Returns true for a last message in which the client begins the answer; a message interrupted by
 * the provider's own tool is being continued.
 */
function endsInBeginning(messages: unknown): boolean {
  const last = objectOf(listOf(messages).at(-1));
  if (last['role'] !== 'assistant') return false;
  return !listOf(last['content']).some((part) => objectOf(part)['type'] === 'server_tool_use');
}

const SAMPLING = ['temperature', 'top_p', 'top_k'];

/**
 * Returns the model-dependent members as the model accepts them; undefined for one that it does
 * not.
 */
function paramsFor(json: JsonObject, capabilities: ClaudeRequests): Record<string, unknown> {
  const thinking = thinkingFor(json, capabilities);
  const isOn = thinking?.['type'] === 'adaptive' || thinking?.['type'] === 'enabled';
  const params: Record<string, unknown> = {
    thinking,
    output_config: outputFor(json, capabilities, thinking),
  };
  if (!capabilities.takesFast && json['speed'] === 'fast') params['speed'] = undefined;
  if (!capabilities.takesSampling) for (const name of SAMPLING) params[name] = undefined;
  if (!isOn && capabilities.thinking === 'budget') {
    params['context_management'] = withoutClearing(json['context_management']);
  }
  return params;
}

function thinkingFor(json: JsonObject, capabilities: ClaudeRequests): JsonObject | undefined {
  const thinking = json['thinking'];
  if (!isObject(thinking)) return undefined;
  switch (thinking['type']) {
    case 'adaptive':
      if (capabilities.thinking === 'budget') return budgetFor(json);
      return capabilities.thinking === 'none' ? undefined : thinking;
    case 'enabled':
      if (capabilities.thinking === 'adaptive') return withoutBudget(thinking);
      return capabilities.thinking === 'none' ? undefined : thinking;
    case 'disabled':
    case 'between_tools':
      return offFor(capabilities);
    default:
      return thinking;
  }
}

function withoutBudget({ budget_tokens: _budget, ...more }: JsonObject): JsonObject {
  return { ...more, type: 'adaptive' };
}

/**
 * A model that needs a budget also needs its own thinking before a tool result, and another model's
 * does not count.
 */
function budgetFor(json: JsonObject): JsonObject | undefined {
  const last = objectOf(listOf(json['messages']).at(-1));
  const isInLoop = listOf(last['content']).some((part) => objectOf(part)['type'] === 'tool_result');
  const maxTokens = json['max_tokens'];
  if (isInLoop || typeof maxTokens !== 'number') return undefined;
  const budget = thinkingBudget(maxTokens, undefined, effortOf(json));
  return budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget };
}

function offFor({ thinking, thinkingOff }: ClaudeRequests): JsonObject | undefined {
  if (thinkingOff === 'never' || thinking === 'none') return undefined;
  return { type: thinkingOff === 'unsaid' ? 'disabled' : thinkingOff };
}

const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

function effortOf(json: JsonObject): ClaudeEffort | undefined {
  const { effort } = objectOf(json['output_config']);
  return EFFORTS.has(effort) ? (effort as ClaudeEffort) : undefined;
}

/**
 * Returns the output config with an effort of the model: the lowest if thinking should be off but
 * cannot be, at most high if it is off.
 */
function outputFor(
  json: JsonObject,
  capabilities: ClaudeRequests,
  thinking: JsonObject | undefined,
): unknown {
  const config = json['output_config'];
  const { effort: _effort, ...more } = objectOf(config);
  const requestedEffort = effortOf(json);
  const wasOff = /^(?:disabled|between_tools)$/.test(String(objectOf(json['thinking'])['type']));
  const mustBeLowest = wasOff && thinking === undefined && capabilities.thinkingOff === 'never';
  const isLimited = wasOff && thinking !== undefined && capabilities.thinkingOff !== 'unsaid';
  const chosen = mustBeLowest ? 'low' : isLimited ? atMostHigh(requestedEffort) : requestedEffort;
  if (chosen === undefined) return config;
  const effort = nearestEffort(capabilities, chosen);
  if (effort !== undefined) return { ...more, effort };
  return Object.keys(more).length === 0 ? undefined : more;
}

const atMostHigh = (effort: ClaudeEffort | undefined): ClaudeEffort | undefined =>
  effort === 'xhigh' || effort === 'max' ? 'high' : effort;

/** A directive to clear old thinking is refused without thinking. */
function withoutClearing(management: unknown): unknown {
  if (!isObject(management)) return management;
  const all = listOf(management['edits']);
  const edits = all.filter((edit) => !String(objectOf(edit)['type']).startsWith('clear_thinking'));
  if (edits.length === all.length) return management;
  return edits.length === 0 ? undefined : { ...management, edits };
}
