/**
 * Reads a generative request into the canonical form. What no other dialect can express is refused.
 */
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
import { cannotCarry } from '../translate/errors.ts';
import { leaveOutProviderTools } from '../translate/hosted.ts';
import { defined, filledString, isObject, numberOf, stringOf, stringsOf } from '../json-kind.ts';
import { fromOpenApi } from '../translate/schema.ts';
import { readContents } from './translate-content.ts';
import {
  camelKeys,
  fieldOf,
  objectField,
  objectsField,
  readGenerativeTarget,
} from './translate-fields.ts';

const KNOWN = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'cachedContent',
  'modelArmorConfig',
]);

const KNOWN_CONFIG = new Set([
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'stopSequences',
  'candidateCount',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseModalities',
  'responseLogprobs',
  'speechConfig',
  'thinkingConfig',
]);

/** Throws `unprocessable` for the provider's own tools, audio, video, stored files and the like. */
export function readGenerativeRequest(
  raw: JsonObject,
  context: ReadRequestContext,
): CanonicalRequest {
  const target = readGenerativeTarget(context.target);
  const whole = camelKeys(raw);
  const isCount = target?.method === 'countTokens';
  const inner = isCount ? whole.generateContentRequest : undefined;
  const body = isObject(inner) ? camelKeys(inner) : whole;
  if (target === undefined || !(isCount || target.method.endsWith('enerateContent'))) {
    throw cannotCarry('an endpoint other than generateContent');
  }
  if (filledString(body.cachedContent)) throw cannotCarry('content cached at its provider');
  if (isObject(body.modelArmorConfig)) throw cannotCarry('a filter of its provider (modelArmor)');
  noteDropped('generative', body, KNOWN, context.note);
  const config = camelKeys(objectField(body, 'generationConfig'));
  refuseInexpressible(config);
  noteDropped('generative', config, KNOWN_CONFIG, context.note);
  return defined({
    model: target.model,
    system: readSystem(fieldOf(body, 'systemInstruction')),
    messages: readContents(body.contents, context.note),
    tools: readTools(body, context),
    toolChoice: readChoice(body),
    maxOutputTokens: numberOf(config.maxOutputTokens),
    temperature: numberOf(config.temperature),
    topP: numberOf(config.topP),
    topK: numberOf(config.topK),
    seed: numberOf(config.seed),
    frequencyPenalty: numberOf(config.frequencyPenalty),
    presencePenalty: numberOf(config.presencePenalty),
    stop: stringsOf(config.stopSequences),
    stream: target.method === 'streamGenerateContent',
    responseFormat: readFormat(config),
    reasoning: readReasoning(camelKeys(objectField(config, 'thinkingConfig'))),
  });
}

/** A content; some libraries send only its text, or one part. */
function readSystem(instruction: unknown): string[] {
  const whole = isObject(instruction) ? instruction : { text: instruction };
  return [whole, ...objectsField(whole, 'parts')].flatMap((part) => filledString(part.text) ?? []);
}

function refuseInexpressible(config: JsonObject): void {
  if ((numberOf(config.candidateCount) ?? 1) > 1) throw cannotCarry('more than one candidate');
  if (config.responseLogprobs === true) throw cannotCarry('log probabilities');
  const spoken = stringsOf(config.responseModalities).some((kind) => kind.toUpperCase() !== 'TEXT');
  if (spoken || isObject(config.speechConfig)) throw cannotCarry('output other than text');
}

function readTools(body: JsonObject, context: ReadRequestContext): CanonicalTool[] {
  const read: CanonicalTool[] = [];
  const hosted: string[] = [];
  for (const raw of objectsField(body, 'tools')) {
    const tool = camelKeys(raw);
    hosted.push(...Object.keys(tool).filter((name) => name !== 'functionDeclarations'));
    read.push(...objectsField(tool, 'functionDeclarations').map(readFunction));
  }
  leaveOutProviderTools(hosted, read.length, context);
  return read;
}

function readFunction(declaration: JsonObject): CanonicalTool {
  const schema = fieldOf(declaration, 'parametersJsonSchema');
  const own = fieldOf(declaration, 'parameters');
  return defined({
    name: stringOf(declaration.name) ?? '',
    description: filledString(declaration.description),
    schema: isObject(schema)
      ? schema
      : isObject(own)
        ? fromOpenApi(own)
        : { type: 'object', properties: {} },
  });
}

function readChoice(body: JsonObject): ToolChoice | undefined {
  const config = camelKeys(objectField(objectField(body, 'toolConfig'), 'functionCallingConfig'));
  const names = stringsOf(config.allowedFunctionNames);
  const only = names.length === 0 ? {} : { only: names };
  switch (stringOf(config.mode)?.toUpperCase()) {
    case 'ANY':
      return { mode: 'any', ...only };
    case 'NONE':
      return { mode: 'none' };
    case 'AUTO':
    // This mode checks calls against their schemas, which other dialects do anyway.
    case 'VALIDATED':
      return { mode: 'auto', ...only };
    default:
      return undefined;
  }
}

function readFormat(config: JsonObject): ResponseFormat | undefined {
  const mime = filledString(config.responseMimeType) ?? 'text/plain';
  if (mime === 'text/plain') return undefined;
  if (mime !== 'application/json') throw cannotCarry(`output of type ${mime}`);
  const schema = config.responseJsonSchema;
  if (isObject(schema)) return { kind: 'schema', schema };
  const own = config.responseSchema;
  return isObject(own) ? { kind: 'schema', schema: fromOpenApi(own) } : { kind: 'json' };
}

const LEVELS = new Map<unknown, Effort>([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
]);

function readReasoning(config: JsonObject): Reasoning | undefined {
  const effort = LEVELS.get(stringOf(config.thinkingLevel)?.toUpperCase());
  const isShown = config.includeThoughts === true;
  if (effort !== undefined) return { on: true, effort, isShown };
  const budget = numberOf(config.thinkingBudget);
  if (budget === undefined) return undefined;
  if (budget === 0) return { on: false };
  return budget < 0 ? { on: true, isShown } : { on: true, budgetTokens: budget, isShown };
}
