/** Writes a canonical request in the responses dialect. */
import type { CanonicalRequest, CanonicalTool, JsonObject, Note } from '../canonical.ts';
import { atMostHigh, effortOf, writtenFormat } from '../chat/translate-write.ts';
import type { WriteRequestContext, WrittenRequest } from '../translate/dialect.ts';
import { cannotCarry } from '../translate/errors.ts';
import { defined } from '../json-kind.ts';
import { noteErrorMarks } from '../translate/prepare.ts';
import { fitsStrictMode } from '../translate/schema.ts';
import { writeItems } from './translate-items.ts';

/** Throws `unprocessable` for what the dialect lacks: stop sequences. */
export function writeResponsesRequest(
  request: CanonicalRequest,
  context: WriteRequestContext,
): WrittenRequest {
  if (request.stop.length > 0) throw cannotCarry('stop sequences');
  noteSampling(request, context.note);
  noteErrorMarks(request, context.note);
  const hasTools = request.tools.length > 0;
  const format = writtenFormat(request.responseFormat);
  const effort = atMostHigh(effortOf(request), context.note);
  const body = defined({
    model: request.model,
    instructions: request.system.length === 0 ? undefined : request.system.join('\n\n'),
    input: request.messages.flatMap(writeItems),
    tools: hasTools ? request.tools.map(writeTool) : undefined,
    tool_choice: hasTools ? writeChoice(request) : undefined,
    parallel_tool_calls: request.parallelTools === false ? false : undefined,
    max_output_tokens: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    text: format === undefined ? undefined : { format },
    reasoning: effort === undefined ? undefined : { effort },
    // The answer is never fetched by its id: the client speaks another dialect.
    store: false,
    stream: request.stream ? true : undefined,
  });
  return { body, path: '/v1/responses' };
}

function noteSampling(request: CanonicalRequest, note: Note): void {
  for (const name of ['topK', 'seed', 'frequencyPenalty', 'presencePenalty'] as const) {
    if ((request[name] ?? 0) !== 0) note(`${name} left out: the responses dialect has none`);
  }
}

function writeTool(tool: CanonicalTool): JsonObject {
  return defined({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.schema,
    strict: tool.strict === true && fitsStrictMode(tool.schema),
  });
}

function writeChoice(request: CanonicalRequest): unknown {
  const choice = request.toolChoice;
  if (choice === undefined) return undefined;
  const mode = choice.mode === 'any' ? 'required' : choice.mode;
  if (choice.only === undefined || choice.mode === 'none') return mode;
  const tools = choice.only.map((name) => ({ type: 'function', name }));
  if (tools.length === 1 && mode === 'required') return tools[0];
  return { type: 'allowed_tools', mode, tools };
}
