/** Converts responses and events of the messages or the chat dialect for the AI SDK. */
import { choiceOf } from './chat.ts';
import { objectAt } from './dialect.ts';
import type { TokenCounts } from './dialect.ts';
import type { ModelContent, ModelFinish, ModelStreamPart, ModelUsage } from './language-model.ts';
import type { JsonObject } from './transport.ts';

const FINISH: Readonly<Record<string, ModelFinish['unified']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  stop: 'stop',
  max_tokens: 'length',
  length: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  refusal: 'content-filter',
  content_filter: 'content-filter',
};

function toFinish(raw: unknown): ModelFinish {
  const reason = typeof raw === 'string' ? raw : undefined;
  return { unified: FINISH[reason ?? ''] ?? 'other', raw: reason };
}

export function toUsage(tokens: TokenCounts): ModelUsage {
  const { input_tokens: fresh, output_tokens: output } = tokens;
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = tokens;
  return {
    inputTokens: {
      total: fresh === null ? undefined : fresh + (read ?? 0) + (written ?? 0),
      noCache: fresh ?? undefined,
      cacheRead: read ?? undefined,
      cacheWrite: written ?? undefined,
    },
    outputTokens: { total: output ?? undefined, text: undefined, reasoning: undefined },
  };
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value)
    ? value.filter((item) => typeof item === 'object' && item !== null)
    : [];
}

/** Returns the content of a whole response of either dialect, and its finish reason. */
export function readAnswer(answer: JsonObject): {
  content: ModelContent[];
  finishReason: ModelFinish;
} {
  if (answer['type'] === 'message')
    return {
      content: list(answer['content']).flatMap(toContent),
      finishReason: toFinish(answer['stop_reason']),
    };
  const choice = choiceOf(answer);
  const message = objectAt(choice, 'message');
  const content: ModelContent[] = [];
  const reasoning = string(message['reasoning_content']);
  if (reasoning !== '') content.push({ type: 'reasoning', text: reasoning });
  const text = string(message['content']);
  if (text !== '') content.push({ type: 'text', text });
  for (const call of list(message['tool_calls'])) {
    const { name, arguments: input } = objectAt(call, 'function');
    content.push({
      type: 'tool-call',
      toolCallId: string(call['id']),
      toolName: string(name),
      input: string(input) === '' ? '{}' : string(input),
    });
  }
  return { content, finishReason: toFinish(choice['finish_reason']) };
}

function toContent(block: JsonObject): ModelContent[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: string(block['text']) }];
    case 'thinking': {
      const signature = string(block['signature']);
      const metadata = signature !== '' && { providerMetadata: { svc: { signature } } };
      return [{ type: 'reasoning', text: string(block['thinking']), ...metadata }];
    }
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          toolCallId: string(block['id']),
          toolName: string(block['name']),
          input: JSON.stringify(block['input'] ?? {}),
        },
      ];
    default:
      return [];
  }
}

/** An open part of a stream: a text, reasoning, or the input of a tool call. */
interface Open {
  readonly kind: 'text' | 'reasoning' | 'tool-input';
  readonly id: string;
  readonly toolName: string;
  input: string;
  signature: string;
}

/** Converts the events of one stream, of either dialect, into parts. */
export class PartReader {
  readonly #open = new Map<string, Open>();
  #usage: Record<string, unknown> = {};
  #finish: unknown;

  /** Usage of the response, in the shape of its dialect. */
  get usage(): JsonObject {
    return this.#usage;
  }

  get finishReason(): ModelFinish {
    return toFinish(this.#finish);
  }

  read(event: JsonObject): ModelStreamPart[] {
    return typeof event['type'] === 'string' ? this.#readMessages(event) : this.#readChat(event);
  }

  /** Closes all open parts: chat streams never mark the end of one. */
  close(): ModelStreamPart[] {
    return [...this.#open.keys()].flatMap((key) => this.#end(key));
  }

  #readMessages(event: JsonObject): ModelStreamPart[] {
    const key = String(event['index']);
    switch (event['type']) {
      case 'message_start': {
        const { id, model, usage } = objectAt(event, 'message');
        Object.assign(this.#usage, usage);
        return [{ type: 'response-metadata', id: string(id), modelId: string(model) }];
      }
      case 'content_block_start':
        return this.#startBlock(key, objectAt(event, 'content_block'));
      case 'content_block_delta':
        return this.#deltaOf(key, objectAt(event, 'delta'));
      case 'content_block_stop':
        return this.#end(key);
      case 'message_delta':
        this.#finish = objectAt(event, 'delta')['stop_reason'];
        Object.assign(this.#usage, objectAt(event, 'usage'));
        return [];
      default:
        return [];
    }
  }

  #startBlock(key: string, block: JsonObject): ModelStreamPart[] {
    if (block['type'] === 'text')
      return [...this.#start(key, 'text', key), ...this.#add(key, string(block['text']))];
    if (block['type'] === 'thinking')
      return [...this.#start(key, 'reasoning', key), ...this.#add(key, string(block['thinking']))];
    if (block['type'] === 'tool_use')
      return this.#start(key, 'tool-input', string(block['id']), string(block['name']));
    return [];
  }

  #deltaOf(key: string, delta: JsonObject): ModelStreamPart[] {
    const open = this.#open.get(key);
    if (delta['type'] === 'signature_delta' && open !== undefined)
      open.signature += string(delta['signature']);
    return this.#add(
      key,
      string(delta['text']) + string(delta['thinking']) + string(delta['partial_json']),
    );
  }

  #readChat(event: JsonObject): ModelStreamPart[] {
    Object.assign(this.#usage, objectAt(event, 'usage'));
    const parts: ModelStreamPart[] = [];
    const choice = choiceOf(event);
    const delta = objectAt(choice, 'delta');
    for (const [field, kind] of [
      ['reasoning_content', 'reasoning'],
      ['content', 'text'],
    ] as const) {
      const text = string(delta[field]);
      if (text === '') continue;
      if (!this.#open.has(kind)) parts.push(...this.close(), ...this.#start(kind, kind, kind));
      parts.push(...this.#add(kind, text));
    }
    for (const call of list(delta['tool_calls'])) {
      const key = `call ${String(call['index'])}`;
      const { name, arguments: input } = objectAt(call, 'function');
      if (!this.#open.has(key))
        parts.push(
          ...this.close(),
          ...this.#start(key, 'tool-input', string(call['id']), string(name)),
        );
      parts.push(...this.#add(key, string(input)));
    }
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    return parts;
  }

  #start(key: string, kind: Open['kind'], id: string, toolName = ''): ModelStreamPart[] {
    this.#open.set(key, { kind, id, toolName, input: '', signature: '' });
    if (kind === 'tool-input') return [{ type: 'tool-input-start', id, toolName }];
    return [{ type: `${kind}-start`, id }];
  }

  #add(key: string, delta: string): ModelStreamPart[] {
    const open = this.#open.get(key);
    if (open === undefined || delta === '') return [];
    if (open.kind === 'tool-input') open.input += delta;
    return [{ type: `${open.kind}-delta`, id: open.id, delta }];
  }

  #end(key: string): ModelStreamPart[] {
    const open = this.#open.get(key);
    if (open === undefined) return [];
    this.#open.delete(key);
    const { kind, id, toolName, input, signature } = open;
    if (kind === 'text') return [{ type: 'text-end', id }];
    if (kind === 'reasoning') {
      const metadata = signature !== '' && { providerMetadata: { svc: { signature } } };
      return [{ type: 'reasoning-end', id, ...metadata }];
    }
    return [
      { type: 'tool-input-end', id },
      { type: 'tool-call', toolCallId: id, toolName, input: input === '' ? '{}' : input },
    ];
  }
}
