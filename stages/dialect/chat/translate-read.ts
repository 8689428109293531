/** Reads a chat request into the canonical form. What no other dialect can express is refused. */
import type {
  CanonicalRequest,
  CanonicalTool,
  Effort,
  JsonObject,
  Reasoning,
  ResponseFormat,
  ToolChoice,
} from '../canonical.ts';
import { noteDropped } from '../translate/dropped-fields.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { choiceAmong } from '../translate/choice.ts';
import { cannotCarry } from '../translate/errors.ts';
import { leaveOutProviderTools } from '../translate/hosted.ts';
import { freeformTool } from '../translate/freeform.ts';
import {
  booleanOf,
  defined,
  filledString,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
} from '../json-kind.ts';
import { withoutOldCalls } from './legacy-calls.ts';
import { readChatMessage, readChatText } from './translate-message.ts';

const KNOWN = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'stream',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'n',
  'logprobs',
  'logit_bias',
  'modalities',
]);

/**
 * Throws `unprocessable` for audio, several choices, log probabilities, files by id and the like.
 */
export function readChatRequest(body: JsonObject, context: ReadRequestContext): CanonicalRequest {
  refuseInexpressible(body);
  noteDropped('chat', body, KNOWN, context.note);
  const all = withoutOldCalls(objectsOf(body.messages));
  const leading = all.findIndex((message) => !isSystem(message));
  const split = leading < 0 ? all.length : leading;
  const tools = readTools(body.tools, context);
  return defined({
    model: stringOf(body.model) ?? '',
    system: all.slice(0, split).flatMap((message) => readChatText(message.content, context.note)),
    // Neighbours of one role are merged later, for all dialects.
    messages: all.slice(split).map((message) => readChatMessage(message, context)),
    tools,
    toolChoice: readChoice(body.tool_choice, tools),
    parallelTools: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    seed: numberOf(body.seed),
    frequencyPenalty: numberOf(body.frequency_penalty),
    presencePenalty: numberOf(body.presence_penalty),
    stop: stringsOf(body.stop),
    stream: body.stream === true,
    responseFormat: readFormat(body.response_format),
    reasoning: readReasoning(body),
  });
}

/** Fields that change the task and have no counterpart. */
const REFUSED: { readonly [field: string]: string } = {
  functions: 'tools in the old form (functions)',
  function_call: 'tools in the old form (function_call)',
  web_search_options: 'a web search by the provider',
  audio: 'spoken output',
  preset: 'a preset that is stored at its provider',
  plugins: 'plugins of an aggregator',
  search_parameters: 'a search by the provider',
};

function refuseInexpressible(body: JsonObject): void {
  for (const [field, what] of Object.entries(REFUSED)) {
    if (body[field] !== undefined && body[field] !== null) throw cannotCarry(what);
  }
  if ((numberOf(body.n) ?? 1) > 1) throw cannotCarry('more than one choice (n)');
  if (body.logprobs === true) throw cannotCarry('log probabilities');
  if (Object.keys(objectOf(body.logit_bias)).length > 0) throw cannotCarry('a logit bias');
  if (stringsOf(body.modalities).some((kind) => kind !== 'text')) {
    throw cannotCarry('output other than text');
  }
}

function isSystem(message: JsonObject): boolean {
  return message.role === 'system' || message.role === 'developer';
}

function readTools(tools: unknown, context: ReadRequestContext): CanonicalTool[] {
  const read: CanonicalTool[] = [];
  const hosted: string[] = [];
  for (const tool of objectsOf(tools)) {
    const type = stringOf(tool.type) ?? 'function';
    if (type === 'function') read.push(readFunction(objectOf(tool.function)));
    else if (type === 'custom') {
      const custom = objectOf(tool.custom);
      const { grammar } = objectOf(custom.format);
      read.push(freeformTool(custom, objectOf(grammar), context.note));
    } else hosted.push(type);
  }
  leaveOutProviderTools(hosted, read.length, context);
  return read;
}

/** Reads a function as both dialects of this family declare it. */
export function readFunction(tool: JsonObject): CanonicalTool {
  return defined({
    name: stringOf(tool.name) ?? '',
    description: filledString(tool.description),
    schema: schemaOf(tool.parameters),
    strict: booleanOf(tool.strict),
  });
}

/** A function without parameters may omit them or have `{}`; other dialects require an object. */
function schemaOf(parameters: unknown): JsonObject {
  const schema = objectOf(parameters);
  return Object.keys(schema).length === 0 ? { type: 'object', properties: {} } : schema;
}

function readChoice(choice: unknown, tools: readonly CanonicalTool[]): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none') return { mode: choice };
  // `any` is one provider's name for `required`.
  if (choice === 'required' || choice === 'any') return { mode: 'any' };
  const named = objectOf(choice);
  if (named.type === 'function' || named.type === 'custom') {
    return { mode: 'any', only: [stringOf(objectOf(named[named.type]).name) ?? ''] };
  }
  if (named.type !== 'allowed_tools') return undefined;
  const allowed = objectOf(named.allowed_tools);
  const names = objectsOf(allowed.tools).map(
    (tool) => stringOf(objectOf(tool.function ?? tool.custom).name) ?? '',
  );
  return choiceAmong(allowed.mode === 'required' ? 'any' : 'auto', names, tools);
}

function readFormat(value: unknown): ResponseFormat | undefined {
  const format = objectOf(value);
  return toFormat(format, objectOf(format.json_schema));
}

/** Returns the requested format; `given` contains its schema. */
export function toFormat(format: JsonObject, given: JsonObject): ResponseFormat | undefined {
  if (format.type === 'json_object') return { kind: 'json' };
  if (format.type !== 'json_schema') return undefined;
  return defined({
    kind: 'schema',
    name: filledString(given.name),
    schema: objectOf(given.schema),
    strict: booleanOf(given.strict),
  });
}

const EFFORTS: ReadonlySet<string> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
]);

/** Reads `reasoning_effort`, or the objects `reasoning` and `thinking` of compatible providers. */
function readReasoning(body: JsonObject): Reasoning | undefined {
  const nested = objectOf(body.reasoning);
  const requestedEffort = stringOf(body.reasoning_effort) ?? stringOf(nested.effort);
  const thinking = objectOf(body.thinking).type;
  if (requestedEffort === 'none' || nested.enabled === false || thinking === 'disabled')
    return { on: false };
  const effort =
    requestedEffort !== undefined && EFFORTS.has(requestedEffort)
      ? (requestedEffort as Effort)
      : undefined;
  const budgetTokens = numberOf(nested.max_tokens);
  const on =
    effort !== undefined ||
    budgetTokens !== undefined ||
    nested.enabled === true ||
    thinking === 'enabled';
  const isHidden = nested.exclude === true || body.include_reasoning === false;
  return on ? defined({ on, effort, budgetTokens, isShown: !isHidden }) : undefined;
}
