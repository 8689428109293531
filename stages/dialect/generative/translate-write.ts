/** Writes a canonical request in the generative dialect. */
import type { CanonicalRequest, CanonicalTool, Effort, JsonObject, Note } from '../canonical.ts';
import type { WriteRequestContext, WrittenRequest } from '../translate/dialect.ts';
import { effortOf } from '../chat/translate-write.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { cannotCarry } from '../translate/errors.ts';
import { defined } from '../json-kind.ts';
import { writeContent } from './translate-content.ts';

/** Throws `unprocessable` for what the dialect lacks and the request requires. */
export function writeGenerativeRequest(
  request: CanonicalRequest,
  context: WriteRequestContext,
): WrittenRequest {
  const hasTools = request.tools.length > 0;
  // This dialect has no such field. Two calls at once may trouble a client; no answer always does.
  if (hasTools && request.parallelTools === false) context.note(droppedParts.singleCall);
  if (request.stop.length > 5) throw cannotCarry('more than five stop sequences');
  const options = {
    names: toolNames(request),
    needsSignature: (generation(request.model) ?? 0) >= 3,
  };
  const body = defined({
    contents: request.messages.map((message) => writeContent(message, options)),
    systemInstruction:
      request.system.length === 0 ? undefined : { parts: request.system.map((text) => ({ text })) },
    tools: hasTools ? [{ functionDeclarations: request.tools.map(writeTool) }] : undefined,
    toolConfig: hasTools ? writeChoice(request) : undefined,
    generationConfig: writeConfig(request, context.note),
  });
  return { body, path: pathOf(request) };
}

function pathOf(request: CanonicalRequest): string {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return `/v1beta/models/${encodeURIComponent(request.model)}:${method}`;
}

function toolNames(request: CanonicalRequest): Map<string, string> {
  const names = new Map<string, string>();
  for (const message of request.messages) {
    for (const block of message.blocks) {
      if (block.kind === 'toolUse') names.set(block.id, block.name);
    }
  }
  return names;
}

/** Returns the major version in a model's name (3 for `gemini-3-flash`), if any. */
function generation(model: string): number | undefined {
  const match = /gemini-(\d+)/.exec(model);
  return match === null ? undefined : Number(match[1]);
}

function writeTool(tool: CanonicalTool): JsonObject {
  return defined({
    name: tool.name,
    description: tool.description,
    parametersJsonSchema: tool.schema,
  });
}

function writeChoice(request: CanonicalRequest): JsonObject | undefined {
  const choice = request.toolChoice;
  if (choice === undefined) return undefined;
  const { only } = choice;
  // Names narrow the choice in these two modes only.
  const mode =
    only !== undefined && choice.mode === 'auto' ? 'VALIDATED' : choice.mode.toUpperCase();
  return { functionCallingConfig: defined({ mode, allowedFunctionNames: only }) };
}

function writeConfig(request: CanonicalRequest, note: Note): JsonObject | undefined {
  const format = request.responseFormat;
  const config = defined({
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    seed: request.seed,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    stopSequences: request.stop.length === 0 ? undefined : request.stop,
    responseMimeType: format === undefined ? undefined : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: writeThinking(request, note),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

const BUDGET_OF: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/** From the third generation on models take a level, those of 2.5 a budget, older ones neither. */
function writeThinking(request: CanonicalRequest, note: Note): JsonObject | undefined {
  const { reasoning, model } = request;
  if (reasoning === undefined) return undefined;
  const version = generation(model);
  const budgeted = model.includes('gemini-2.5');
  if (!reasoning.on || reasoning.effort === 'none') {
    return model.includes('gemini-2.5-flash') ? { thinkingBudget: 0 } : undefined;
  }
  if (budgeted) {
    const effort = reasoning.effort === undefined ? undefined : BUDGET_OF[reasoning.effort];
    return { thinkingBudget: reasoning.budgetTokens ?? effort ?? -1 };
  }
  if (version === undefined || version < 3) {
    note('reasoning left out: this model is not known to take it');
    return undefined;
  }
  const effort = effortOf(request);
  const min = effort === 'minimal' ? 'low' : effort;
  const level = min === 'xhigh' || min === 'max' ? 'high' : min;
  return level === undefined ? undefined : { thinkingLevel: level };
}
