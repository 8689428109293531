/** Writes a canonical request in the chat dialect. */
import type {
  CanonicalRequest,
  CanonicalTool,
  Effort,
  JsonObject,
  Note,
  ResponseFormat,
} from '../canonical.ts';
import type { WriteRequestContext, WrittenRequest } from '../translate/dialect.ts';
import { cannotCarry } from '../translate/errors.ts';
import { defined } from '../json-kind.ts';
import { noteErrorMarks } from '../translate/prepare.ts';
import { fitsStrictMode } from '../translate/schema.ts';
import type { ReasoningSupport } from './translate-marks.ts';
import { writeChatMessages } from './translate-message.ts';

/** Throws `unprocessable` for what the dialect lacks, such as a document by URL. */
export function writeChatRequest(
  request: CanonicalRequest,
  context: WriteRequestContext,
): WrittenRequest {
  const { note } = context;
  if (request.stop.length > 4) throw cannotCarry('more than four stop sequences');
  noteErrorMarks(request, note);
  const hasTools = request.tools.length > 0;
  const body = defined({
    model: request.model,
    messages: [
      ...writeSystem(request.system),
      ...request.messages.flatMap((message) =>
        writeChatMessages(message, reasoningSupport(context)),
      ),
    ],
    tools: hasTools ? request.tools.map(writeTool) : undefined,
    tool_choice: hasTools ? writeChoice(request) : undefined,
    parallel_tool_calls: hasTools && request.parallelTools === false ? false : undefined,
    ...writeLimit(request),
    ...writeSampling(request, note),
    stop: request.stop.length === 0 ? undefined : request.stop,
    stream: request.stream ? true : undefined,
    stream_options:
      request.stream && !context.unsupported.has('stream_options')
        ? { include_usage: true }
        : undefined,
    response_format: writeFormat(request.responseFormat),
    reasoning_effort: writeEffort(request, note),
  });
  return { body, path: '/v1/chat/completions' };
}

function reasoningSupport({ unsupported }: WriteRequestContext): ReasoningSupport {
  if (unsupported.has('reasoning of calls')) return 'refused';
  return unsupported.has('calls without reasoning') ? 'wanted' : undefined;
}

function writeSystem(system: readonly string[]): JsonObject[] {
  return system.length === 0 ? [] : [{ role: 'system', content: system.join('\n\n') }];
}

function writeTool(tool: CanonicalTool): JsonObject {
  return {
    type: 'function',
    function: defined({
      name: tool.name,
      description: tool.description,
      parameters: tool.schema,
      strict: tool.strict === true && fitsStrictMode(tool.schema) ? true : undefined,
    }),
  };
}

function writeChoice(request: CanonicalRequest): unknown {
  const choice = request.toolChoice;
  if (choice === undefined) return undefined;
  const mode = choice.mode === 'any' ? 'required' : choice.mode;
  if (choice.only === undefined || choice.mode === 'none') return mode;
  const tools = choice.only.map((name) => ({ type: 'function', function: { name } }));
  if (tools.length === 1 && mode === 'required') return tools[0];
  return { type: 'allowed_tools', allowed_tools: { mode, tools } };
}

/**
 * OpenAI's reasoning models only accept the newer field; other servers often only the older one.
 */
function writeLimit(request: CanonicalRequest): JsonObject {
  return isReasoningModel(request.model)
    ? { max_completion_tokens: request.maxOutputTokens }
    : { max_tokens: request.maxOutputTokens };
}

/** Returns true for model families that think before they answer and refuse sampling settings. */
function isReasoningModel(model: string): boolean {
  return /(^|\/)(o\d|gpt-[5-9]|codex)/.test(model);
}

function writeSampling(request: CanonicalRequest, note: Note): JsonObject {
  if (request.topK !== undefined) note('top_k left out: the chat dialect has none');
  const { temperature, topP, seed, frequencyPenalty, presencePenalty } = request;
  if (!isReasoningModel(request.model)) {
    return {
      temperature,
      top_p: topP,
      seed,
      frequency_penalty: frequencyPenalty,
      presence_penalty: presencePenalty,
    };
  }
  if (temperature !== undefined || topP !== undefined) {
    note('temperature and top_p left out: this model refuses them');
  }
  return { seed };
}

function writeFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  const { type, ...schema } = writtenFormat(format) ?? {};
  if (type === undefined) return undefined;
  return type === 'json_object' ? { type } : { type, json_schema: schema };
}

/** Returns the requested format with its schema beside its type, as in the responses dialect. */
export function writtenFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.kind === 'json') return { type: 'json_object' };
  const { schema } = format;
  const strict = format.strict !== false && fitsStrictMode(schema);
  return { type: 'json_schema', name: format.name ?? 'answer', schema, strict };
}

/** Only models known to think get an effort: others refuse the field. */
function writeEffort(request: CanonicalRequest, note: Note): string | undefined {
  const effort = effortOf(request);
  if (effort === undefined || !/gpt-3|gpt-4/.test(request.model)) return atMostHigh(effort, note);
  note('reasoning left out: this model does not accept it');
  return undefined;
}

/** Returns the requested effort; a budget is converted by the usual sizes of each level. */
export function effortOf({ reasoning }: CanonicalRequest): Effort | undefined {
  if (reasoning?.on !== true) return undefined;
  const { effort, budgetTokens } = reasoning;
  if (effort !== undefined || budgetTokens === undefined) return effort;
  if (budgetTokens <= 2048) return 'low';
  return budgetTokens <= 8192 ? 'medium' : 'high';
}

/** `high` is the highest level that all models accept. */
export function atMostHigh(effort: Effort | undefined, note: Note): Effort | undefined {
  if (effort !== 'xhigh' && effort !== 'max') return effort;
  note(`reasoning effort ${effort} lowered to high, the highest that every model accepts`);
  return 'high';
}
