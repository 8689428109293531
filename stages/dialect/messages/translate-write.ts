/** A canonical request as the messages dialect says it. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  Effort,
  JsonObject,
  Note,
} from '../canonical.ts';
import type { SystemPlace, WriteRequestContext, WrittenRequest } from '../translate/dialect.ts';
import { cannotCarry } from '../translate/errors.ts';
import { defined } from '../json-kind.ts';
import { writeMessagesBlock } from './translate-blocks.ts';

/** Throws `unprocessable` for what the dialect lacks: JSON without a schema, a choice among several tools. */
export function writeMessagesRequest(
  request: CanonicalRequest,
  context: WriteRequestContext,
): WrittenRequest {
  const { note } = context;
  const thinking = writeThinking(request, note);
  const body = defined({
    model: request.model,
    max_tokens: request.maxOutputTokens ?? defaultMaxTokens(request.model),
    system: writeSystem(request.system),
    messages: withoutTrailingSpace(request.messages).map(writeMessage),
    tools: request.tools.length === 0 ? undefined : request.tools.map(writeTool),
    tool_choice: writeChoice(request),
    ...writeSampling(request, thinking.field !== undefined, note),
    stop_sequences: writeStop(request.stop),
    stream: request.stream ? true : undefined,
    thinking: thinking.field,
    output_config: writeOutputConfig(request, thinking.effort),
  });
  return { body, path: '/v1/messages' };
}

function writeSystem(system: readonly string[]): string | JsonObject[] | undefined {
  if (system.length <= 1) return system[0];
  return system.map((text) => ({ type: 'text', text }));
}

/** The API refuses a conversation that ends in the model's own text with white space behind it. */
function withoutTrailingSpace(messages: readonly CanonicalMessage[]): readonly CanonicalMessage[] {
  const last = messages.at(-1);
  const text = last?.blocks.at(-1);
  if (last?.role !== 'assistant' || text?.kind !== 'text') return messages;
  const trimmed = { ...text, text: text.text.trimEnd() };
  const blocks = [...last.blocks.slice(0, -1), ...(trimmed.text === '' ? [] : [trimmed])];
  const before = messages.slice(0, -1);
  return blocks.length === 0 ? before : [...before, { ...last, blocks }];
}

/** Results stand first in their message: the API wants them right after the calls. */
function writeMessage(message: CanonicalMessage): JsonObject {
  const results = message.blocks.filter((block) => block.kind === 'toolResult');
  const others = message.blocks.filter((block) => block.kind !== 'toolResult');
  const [only] = message.blocks;
  if (message.blocks.length === 1 && only?.kind === 'text') {
    return { role: message.role, content: only.text };
  }
  const ordered: CanonicalBlock[] = [...results, ...others];
  return { role: message.role, content: ordered.map(writeMessagesBlock) };
}

function writeTool(tool: CanonicalTool): JsonObject {
  return defined({
    name: tool.name,
    description: tool.description,
    input_schema: { type: 'object', ...tool.schema },
    strict: tool.strict === true ? true : undefined,
  });
}

function writeChoice(request: CanonicalRequest): JsonObject | undefined {
  if (request.tools.length === 0) return undefined;
  const choice = request.toolChoice ?? { mode: 'auto' as const };
  const parallel = request.parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (choice.mode === 'none') return { type: 'none' };
  const [name, ...more] = choice.only ?? [];
  if (choice.mode === 'any' && name !== undefined && more.length === 0) {
    return { type: 'tool', name, ...parallel };
  }
  if (choice.only !== undefined && choice.only.length !== request.tools.length) {
    throw cannotCarry('a tool choice among several named tools');
  }
  if (choice.mode === 'any') return { type: 'any', ...parallel };
  const isNeeded = request.toolChoice !== undefined || request.parallelTools === false;
  return isNeeded ? { type: 'auto', ...parallel } : undefined;
}

/** The API takes temperatures up to 1, one of temperature and top_p, and none beside thinking. */
function writeSampling(request: CanonicalRequest, thinks: boolean, note: Note): JsonObject {
  const { temperature, topP, topK } = request;
  for (const name of ['seed', 'frequencyPenalty', 'presencePenalty'] as const) {
    if ((request[name] ?? 0) !== 0) note(`${name} left out: the messages dialect has none`);
  }
  if (thinks) {
    if (temperature !== undefined || topK !== undefined) {
      note('temperature and top_k left out: not allowed beside thinking');
    }
    return {};
  }
  if (temperature !== undefined && topP !== undefined) {
    note('top_p left out: current models take it or temperature, not both');
  }
  if ((temperature ?? 0) > 1) note(`temperature ${temperature} lowered to 1, the most there is`);
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  };
}

function writeStop(stop: readonly string[]): readonly string[] | undefined {
  if (stop.some((sequence) => sequence.trim() === '')) {
    throw cannotCarry('a stop sequence of white space only');
  }
  return stop.length === 0 ? undefined : stop;
}

function writeOutputConfig(
  request: CanonicalRequest,
  effort: Effort | undefined,
): JsonObject | undefined {
  const { responseFormat } = request;
  if (responseFormat?.kind === 'json') throw cannotCarry('JSON output without a schema');
  if (responseFormat === undefined && effort === undefined) return undefined;
  return defined({
    effort,
    format: responseFormat && { type: 'json_schema', schema: responseFormat.schema },
  });
}

interface Thinking {
  readonly field?: JsonObject;
  readonly effort?: Effort;
}

/** The API refuses smaller budgets. */
const LEAST_BUDGET = 1024;

const BUDGET_OF: Record<Effort, number> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/** Newer models measure their thinking themselves and take an effort; older ones want a budget below max_tokens. */
function writeThinking(request: CanonicalRequest, note: Note): Thinking {
  const { reasoning } = request;
  if (reasoning === undefined || !reasoning.on || reasoning.effort === 'none') return {};
  const version = claudeVersion(request.model);
  if (version === undefined || version < 3.7) {
    note('reasoning left out: this model is not known to take it');
    return {};
  }
  if (request.toolChoice?.mode === 'any') {
    note('reasoning left out: not allowed while a tool call is forced');
    return {};
  }
  const effort = effortFor(reasoning.effort);
  if (version >= 4.6) return { field: { type: 'adaptive' }, ...(effort ? { effort } : {}) };
  if (inToolLoop(request.messages)) {
    note('reasoning left out: this model wants its own thinking before a tool result');
    return {};
  }
  const room = (request.maxOutputTokens ?? defaultMaxTokens(request.model)) - 1;
  if (room < LEAST_BUDGET) {
    note('reasoning left out: the output limit has no room for it');
    return {};
  }
  const wanted = reasoning.budgetTokens ?? BUDGET_OF[reasoning.effort ?? 'medium'];
  const budget = Math.max(LEAST_BUDGET, Math.min(wanted, room));
  return { field: { type: 'enabled', budget_tokens: budget } };
}

/** The dialect's efforts begin at `low`. */
function effortFor(effort: Effort | undefined): Effort | undefined {
  return effort === 'minimal' ? 'low' : effort;
}

/** True if the conversation waits for the model to go on after tool results without thinking of its own before the calls. */
function inToolLoop(messages: readonly CanonicalMessage[]): boolean {
  const last = messages.at(-1);
  return last?.blocks.some((block) => block.kind === 'toolResult') ?? false;
}

/** The least version of each family that takes instructions as messages of their own. */
const MID_SYSTEM_SINCE: { readonly [family: string]: number } = {
  opus: 4.8,
  fable: 5,
  mythos: 5,
  sonnet: 5.5,
  haiku: 5.5,
};

/**
 * Where a model takes messages of role `system`, by the provider's documentation
 * (build-with-claude/mid-conversation-system-messages). Other makers' models take none.
 */
export function messagesSystemPlace(model: string): SystemPlace {
  const family = /claude-([a-z]+)-\d/.exec(model)?.[1] ?? '';
  const since = Object.hasOwn(MID_SYSTEM_SINCE, family) ? MID_SYSTEM_SINCE[family] : undefined;
  const version = claudeVersion(model);
  const takes = since !== undefined && version !== undefined && version >= since;
  return takes ? 'after user' : 'nowhere';
}

/** 4.5 for `claude-sonnet-4-5-20250929`, 3.7 for `claude-3-7-sonnet`; undefined for another maker's model. */
function claudeVersion(model: string): number | undefined {
  const match = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  if (match === null) return undefined;
  return Number(match[1]) + Number(match[2] ?? 0) / 10;
}

/** The dialect demands a limit; where the client had none, what the model's generation can write. */
function defaultMaxTokens(model: string): number {
  const version = claudeVersion(model);
  if (version === undefined) return 8192;
  if (version < 3.5) return 4096;
  return version < 4 ? 8192 : 32_000;
}
