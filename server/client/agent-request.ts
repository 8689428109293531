/** Converts a call of the AI SDK to a request of the messages or the chat dialect. */
import { SvcConfigError } from './errors.ts';
import type {
  ModelCall,
  ModelTool,
  ModelWarning,
  PromptMessage,
  PromptPart,
} from './language-model.ts';
import type { MultiProviderRequest } from './multi.ts';
import type { JsonObject } from './transport.ts';

export interface WrittenCall {
  readonly request: MultiProviderRequest;
  readonly warnings: ModelWarning[];
}

type Body = Record<string, unknown>;

/** Throws `SvcConfigError` for a part that the dialect cannot represent. */
export function writeCall(
  model: string,
  dialect: 'messages' | 'chat',
  call: ModelCall,
): WrittenCall {
  const warnings: ModelWarning[] = [];
  const body: Body = { model, dialect, messages: [] };
  if (dialect === 'messages') writeMessages(body, call, warnings);
  else writeChat(body, call, warnings);
  set(body, 'temperature', call.temperature);
  set(body, 'top_p', call.topP);
  Object.assign(body, call.providerOptions?.['svc']);
  // Fields from `providerOptions` are the caller's own, and checked by the provider.
  return { request: body as unknown as MultiProviderRequest, warnings };
}

function set(body: Body, field: string, value: unknown): void {
  if (value !== undefined) body[field] = value;
}

function unsupported(
  warnings: ModelWarning[],
  call: ModelCall,
  fields: readonly (keyof ModelCall)[],
): void {
  for (const feature of fields)
    if (call[feature] !== undefined) warnings.push({ type: 'unsupported', feature });
}

function functionTools(call: ModelCall, warnings: ModelWarning[]): ModelTool[] {
  const tools = call.tools ?? [];
  for (const { type, name } of tools)
    if (type !== 'function') warnings.push({ type: 'unsupported', feature: `tool ${name}` });
  return tools.filter(({ type }) => type === 'function');
}

function textOf(content: string | readonly PromptPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Returns a tool's output as text. */
function outputText({ type, value }: { readonly type: string; readonly value?: unknown }): string {
  if (type === 'execution-denied') return 'The tool was not allowed to run.';
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function base64Of(data: Uint8Array | string): string {
  if (typeof data === 'string') return data;
  let binary = '';
  for (const byte of data) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function refusePart(part: PromptPart, dialect: string): never {
  const what =
    part.type === 'file' ? `a file of type ${part.mediaType}` : `a part of type ${part.type}`;
  throw new SvcConfigError(`The ${dialect} dialect has no place here for ${what}`);
}

// — messages —

function writeMessages(body: Body, call: ModelCall, warnings: ModelWarning[]): void {
  unsupported(warnings, call, ['presencePenalty', 'frequencyPenalty', 'seed']);
  if (call.responseFormat?.type === 'json')
    warnings.push({
      type: 'unsupported',
      feature: 'responseFormat',
      details: 'ask for JSON in the prompt, or use a tool',
    });
  const system = call.prompt
    .filter(({ role }) => role === 'system')
    .map(({ content }) => textOf(content));
  if (system.length > 0) body['system'] = system.join('\n\n');
  body['messages'] = mergeTurns(call.prompt.filter(({ role }) => role !== 'system').map(toTurn));
  set(body, 'max_tokens', call.maxOutputTokens);
  set(body, 'top_k', call.topK);
  set(body, 'stop_sequences', call.stopSequences);
  const tools = functionTools(call, warnings);
  const { toolChoice } = call;
  if (tools.length === 0) return;
  body['tools'] = tools.map(({ name, description, inputSchema }) => ({
    name,
    ...(description !== undefined && { description }),
    input_schema: inputSchema,
  }));
  if (toolChoice === undefined) return;
  if (toolChoice.type === 'tool') body['tool_choice'] = { type: 'tool', name: toolChoice.toolName };
  else body['tool_choice'] = { type: toolChoice.type === 'required' ? 'any' : toolChoice.type };
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

function toTurn({ role, content }: PromptMessage): Turn {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  return {
    role: role === 'assistant' ? 'assistant' : 'user',
    content: parts.flatMap(toBlock),
  };
}

/** Results of parallel tool calls must be in one turn. */
function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: { role: Turn['role']; content: JsonObject[] }[] = [];
  for (const { role, content } of turns) {
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content: [...content] });
  }
  return merged;
}

function toBlock(part: PromptPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'reasoning': {
      // A provider refuses its own reasoning without the original signature.
      const signature = signatureOf(part.providerOptions);
      return signature === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature }];
    }
    case 'file':
      return [toMedia(part)];
    case 'tool-call':
      return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input }];
    case 'tool-result': {
      const isError =
        part.output.type.startsWith('error') || part.output.type === 'execution-denied';
      return [
        {
          type: 'tool_result',
          tool_use_id: part.toolCallId,
          content: outputText(part.output),
          ...(isError && { is_error: true }),
        },
      ];
    }
    default:
      return [];
  }
}

function signatureOf(providerOptions: unknown): string | undefined {
  const ours = (providerOptions as { svc?: { signature?: unknown } } | undefined)?.svc;
  return typeof ours?.signature === 'string' ? ours.signature : undefined;
}

function toMedia(part: Extract<PromptPart, { type: 'file' }>): JsonObject {
  const isImage = part.mediaType.startsWith('image/');
  if (!isImage && part.mediaType !== 'application/pdf') refusePart(part, 'messages');
  const mediaType = part.mediaType === 'image/*' ? 'image/jpeg' : part.mediaType;
  const source =
    part.data instanceof URL
      ? { type: 'url', url: part.data.href }
      : { type: 'base64', media_type: mediaType, data: base64Of(part.data) };
  return { type: isImage ? 'image' : 'document', source };
}

// — chat —

function writeChat(body: Body, call: ModelCall, warnings: ModelWarning[]): void {
  unsupported(warnings, call, ['topK']);
  body['messages'] = call.prompt.flatMap(toChatMessages);
  set(body, 'max_tokens', call.maxOutputTokens);
  set(body, 'presence_penalty', call.presencePenalty);
  set(body, 'frequency_penalty', call.frequencyPenalty);
  set(body, 'seed', call.seed);
  set(body, 'stop', call.stopSequences);
  const { responseFormat, toolChoice } = call;
  if (responseFormat?.type === 'json') {
    const { schema, name = 'answer' } = responseFormat;
    body['response_format'] =
      schema === undefined
        ? { type: 'json_object' }
        : { type: 'json_schema', json_schema: { name, schema } };
  }
  const tools = functionTools(call, warnings);
  if (tools.length === 0) return;
  body['tools'] = tools.map(({ name, description, inputSchema, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: inputSchema,
      ...(strict !== undefined && { strict }),
    },
  }));
  if (toolChoice === undefined) return;
  body['tool_choice'] =
    toolChoice.type === 'tool'
      ? { type: 'function', function: { name: toolChoice.toolName } }
      : toolChoice.type;
}

function toChatMessages({ role, content }: PromptMessage): JsonObject[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool')
    return content.flatMap((part) =>
      part.type === 'tool-result'
        ? [{ role: 'tool', tool_call_id: part.toolCallId, content: outputText(part.output) }]
        : [],
    );
  if (role === 'assistant') return [toAssistant(content)];
  const isPlain = content.every(({ type }) => type === 'text');
  return [{ role, content: isPlain ? textOf(content) : content.map(toChatPart) }];
}

function toAssistant(content: readonly PromptPart[]): JsonObject {
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: JSON.stringify(part.input ?? {}) },
          },
        ]
      : [],
  );
  const text = textOf(content);
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toChatPart(part: PromptPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type !== 'file') return refusePart(part, 'chat');
  const { data, mediaType, filename } = part;
  const url =
    data instanceof URL
      ? data.href
      : `data:${mediaType.replace('*', 'jpeg')};base64,${base64Of(data)}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (mediaType === 'application/pdf' && !(data instanceof URL))
    return { type: 'file', file: { filename: filename ?? 'document.pdf', file_data: url } };
  return refusePart(part, 'chat');
}
