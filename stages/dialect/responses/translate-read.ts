/**
 * Reads a responses request into the canonical form. What no other dialect can express is refused.
 */
import type {
  CanonicalRequest,
  CanonicalTool,
  Effort,
  JsonObject,
  Reasoning,
  ToolChoice,
} from '../canonical.ts';
import { toFormat } from '../chat/translate-read.ts';
import { droppedParts, noteDropped } from '../translate/dropped-fields.ts';
import type { ReadRequestContext } from '../translate/dialect.ts';
import { choiceAmong } from '../translate/choice.ts';
import { cannotCarry } from '../translate/errors.ts';
import {
  booleanOf,
  defined,
  filledString,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
} from '../json-kind.ts';
import { textsOf } from '../translate/prepare.ts';
import { readInput } from './translate-items.ts';
import {
  declaredName,
  namespacedName,
  readResponsesTools,
  withDeclaredNames,
} from './translate-tools.ts';

const KNOWN = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'text',
  'reasoning',
  'top_logprobs',
]);

/**
 * Throws `unprocessable` for stored conversations, compaction, hosted tools that were called, files
 * by id and the like.
 */
export function readResponsesRequest(
  body: JsonObject,
  context: ReadRequestContext,
): CanonicalRequest {
  refuseServerState(body);
  noteDropped('responses', body, KNOWN, context.note);
  if (filledString(objectOf(body.text).verbosity) !== undefined) {
    context.note(droppedParts.verbosity);
  }
  const format = objectOf(objectOf(body.text).format);
  const tools = readResponsesTools(body, context);
  const all = withDeclaredNames(readInput(body.input, context.note), tools);
  const leading = all.findIndex((message) => message.role !== 'system');
  const split = leading < 0 ? all.length : leading;
  const instructions = filledString(body.instructions);
  const system = all.slice(0, split).flatMap(textsOf);
  return defined({
    model: stringOf(body.model) ?? '',
    system: instructions === undefined ? system : [instructions, ...system],
    messages: all.slice(split),
    tools,
    toolChoice: readChoice(body.tool_choice, tools),
    parallelTools: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: numberOf(body.max_output_tokens),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    stop: [],
    stream: body.stream === true,
    responseFormat: toFormat(format, format),
    reasoning: readReasoning(objectOf(body.reasoning)),
  });
}

const STORED: { readonly [field: string]: string } = {
  previous_response_id: 'an earlier answer that is stored at its provider (previous_response_id)',
  conversation: 'a conversation that is stored at its provider',
  prompt: 'a prompt that is stored at its provider',
};

function refuseServerState(body: JsonObject): void {
  for (const [field, what] of Object.entries(STORED)) {
    if (body[field] !== undefined && body[field] !== null) throw cannotCarry(what);
  }
  if (body.background === true) throw cannotCarry('an answer made in the background');
  if ((numberOf(body.top_logprobs) ?? 0) > 0) throw cannotCarry('log probabilities');
}

function readChoice(choice: unknown, tools: readonly CanonicalTool[]): ToolChoice | undefined {
  const nameOf = (tool: JsonObject): string => declaredName(tools)(namespacedName(tool));
  if (choice === 'auto' || choice === 'none') return { mode: choice };
  if (choice === 'required') return { mode: 'any' };
  const named = objectOf(choice);
  if (named.type === 'function' || named.type === 'custom') {
    return { mode: 'any', only: [nameOf(named)] };
  }
  if (named.type === undefined) return undefined;
  if (named.type !== 'allowed_tools') {
    throw cannotCarry('a forced call of the provider’s own tool');
  }
  const names = objectsOf(named.tools).map(nameOf);
  return choiceAmong(named.mode === 'required' ? 'any' : 'auto', names, tools);
}

const EFFORTS: ReadonlySet<string> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

function readReasoning(reasoning: JsonObject): Reasoning | undefined {
  const effort = stringOf(reasoning.effort);
  if (effort === 'none') return { on: false };
  if (effort === undefined || !EFFORTS.has(effort)) return undefined;
  return { on: true, effort: effort as Effort, isShown: stringOf(reasoning.summary) !== undefined };
}
