/** Writes a canonical request in the messages dialect. */
import type {
  CanonicalBlock,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  JsonObject,
} from '../canonical.ts';
import type { SystemPlace, WriteRequestContext, WrittenRequest } from '../translate/dialect.ts';
import { toolsLeft } from '../translate/choice.ts';
import { cannotCarry } from '../translate/errors.ts';
import { defined } from '../json-kind.ts';
import { writeMessagesBlock } from './translate-blocks.ts';
import { claudeRequests } from '../../model/claude-requests.ts';
import type { ClaudeEffort } from '../../model/claude-requests.ts';
import { claudeOf } from '../../model/model-facts.ts';
import { maxOutputOf } from './max-output.ts';
import { writeSampling, writeThinking } from './translate-thinking.ts';
import type { Thinking } from './translate-thinking.ts';

/**
 * Throws `unprocessable` for what the dialect lacks (JSON without a schema), and for what the model
 * refuses.
 */
export function writeMessagesRequest(
  request: CanonicalRequest,
  context: WriteRequestContext,
): WrittenRequest {
  const { note } = context;
  const messages = withoutTrailingSpace(request.messages);
  refuseForModel({ ...request, messages });
  const thinking = writeThinking(request, note);
  const body = defined({
    model: request.model,
    max_tokens: request.maxOutputTokens ?? maxOutputOf(request.model),
    system: writeSystem(request.system),
    messages: messages.map(writeMessage),
    tools: request.tools.length === 0 ? undefined : toolsOf(request).map(writeTool),
    tool_choice: writeChoice(request),
    ...writeSampling(request, thinks(thinking), note),
    stop_sequences: writeStop(request.stop),
    stream: request.stream ? true : undefined,
    thinking: thinking.field,
    output_config: writeOutputConfig(request, thinking.effort),
  });
  return { body, path: '/v1/messages' };
}

/**
 * Refuses what newer models refuse and nothing can replace: leaving it out would change the task.
 */
function refuseForModel({ model, toolChoice, tools, messages }: CanonicalRequest): void {
  const capabilities = claudeRequests(model);
  if (capabilities === undefined) return;
  if (!capabilities.takesDemand && toolChoice?.mode === 'any' && tools.length > 0)
    throw cannotCarry(`a forced tool call, which ${model} does not accept`);
  if (!capabilities.takesBeginning && messages.at(-1)?.role === 'assistant')
    throw cannotCarry(
      `a conversation that ends with a message of the model, which ${model} does not accept`,
    );
}

const thinks = ({ field }: Thinking): boolean =>
  field?.['type'] === 'adaptive' || field?.['type'] === 'enabled';

function writeSystem(system: readonly string[]): string | JsonObject[] | undefined {
  if (system.length <= 1) return system[0];
  return system.map((text) => ({ type: 'text', text }));
}

/** The API refuses a conversation that ends with the model's own text and trailing white space. */
function withoutTrailingSpace(messages: readonly CanonicalMessage[]): readonly CanonicalMessage[] {
  const last = messages.at(-1);
  const text = last?.blocks.at(-1);
  if (last?.role !== 'assistant' || text?.kind !== 'text') return messages;
  const trimmed = { ...text, text: text.text.trimEnd() };
  const blocks = [...last.blocks.slice(0, -1), ...(trimmed.text === '' ? [] : [trimmed])];
  const before = messages.slice(0, -1);
  return blocks.length === 0 ? before : [...before, { ...last, blocks }];
}

/** Results come first in their message: the API requires them right after the calls. */
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

/** The dialect can force one named tool; if several are allowed, the others are left out. */
function toolsOf({ tools, toolChoice }: CanonicalRequest): readonly CanonicalTool[] {
  const isOneDemanded = toolChoice?.mode === 'any' && toolChoice.only?.length === 1;
  return isOneDemanded ? tools : toolsLeft(tools, toolChoice);
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
  if (choice.mode === 'any') return { type: 'any', ...parallel };
  const isNeeded = request.toolChoice !== undefined || request.parallelTools === false;
  return isNeeded ? { type: 'auto', ...parallel } : undefined;
}

function writeStop(stop: readonly string[]): readonly string[] | undefined {
  if (stop.some((sequence) => sequence.trim() === '')) {
    throw cannotCarry('a stop sequence of white space only');
  }
  return stop.length === 0 ? undefined : stop;
}

function writeOutputConfig(
  request: CanonicalRequest,
  effort: ClaudeEffort | undefined,
): JsonObject | undefined {
  const { responseFormat } = request;
  if (responseFormat?.kind === 'json') throw cannotCarry('JSON output without a schema');
  if (responseFormat === undefined && effort === undefined) return undefined;
  return defined({
    effort,
    format: responseFormat && { type: 'json_schema', schema: responseFormat.schema },
  });
}

/** The first version of each family that accepts instructions as messages of their own. */
const MID_SYSTEM_SINCE: { readonly [family: string]: number } = {
  opus: 4.8,
  fable: 5,
  mythos: 5,
  sonnet: 5.5,
  haiku: 5.5,
};

/**
 * Returns where a model accepts messages of role `system`, by the provider's documentation
 * (build-with-claude/mid-conversation-system-messages). Other vendors' models accept none.
 */
export function messagesSystemPlace(model: string): SystemPlace {
  const claude = claudeOf(model.toLowerCase());
  if (claude === undefined || !Object.hasOwn(MID_SYSTEM_SINCE, claude.family)) return 'nowhere';
  return claude.version >= MID_SYSTEM_SINCE[claude.family]! ? 'after user' : 'nowhere';
}
