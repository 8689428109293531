/** Structural rules of each dialect, as its API enforces them, checked on what the translation writes. */
import type { TranslatableDialect } from './canonical.ts';
import { isObject, objectOf, objectsOf, stringOf } from './translate-json.ts';

type Loose = { readonly [key: string]: unknown };

/** Faults of a request body by the rules of its dialect. */
export function requestFaults(dialect: TranslatableDialect, body: Loose): string[] {
  switch (dialect) {
    case 'messages':
      return messagesFaults(body);
    case 'chat':
      return chatFaults(body);
    case 'generative':
      return generativeFaults(body);
    default:
      return responsesFaults(body);
  }
}

function messagesFaults(body: Loose): string[] {
  const faults: string[] = [];
  const messages = objectsOf(body.messages);
  if (typeof body.max_tokens !== 'number' || body.max_tokens < 1) faults.push('max_tokens');
  if (messages.length === 0) faults.push('no messages');
  let asked: string[] = [];
  let before: unknown;
  for (const message of messages) {
    if (message.role !== 'user' && message.role !== 'assistant') faults.push('role');
    if (message.role === before) faults.push('two neighbours of one role');
    before = message.role;
    const blocks = isObject(message.content) ? [] : objectsOf(message.content);
    if (message.content === '' || (Array.isArray(message.content) && blocks.length === 0)) {
      faults.push('empty content');
    }
    const results = blocks.filter((block) => block.type === 'tool_result');
    const answered = results.map((block) => String(block.tool_use_id));
    if (asked.some((id) => !answered.includes(id))) faults.push(`unanswered call ${asked.join()}`);
    if (answered.some((id) => !asked.includes(id))) faults.push(`result of no call`);
    if (blocks.slice(results.length).some((block) => block.type === 'tool_result')) {
      faults.push('a result after other blocks');
    }
    if (blocks.some((block) => block.type === 'text' && block.text === ''))
      faults.push('empty text');
    asked = blocks.flatMap((block) => (block.type === 'tool_use' ? String(block.id) : []));
    if (asked.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) faults.push('tool id');
    if (blocks.some((block) => String(block.type).includes('thinking'))) faults.push('thinking');
  }
  for (const tool of objectsOf(body.tools)) {
    if (objectOf(tool.input_schema).type !== 'object') faults.push('input_schema');
  }
  const thinking = objectOf(body.thinking);
  if (Number(thinking.budget_tokens ?? 1024) < 1024) faults.push('budget');
  if (Number(thinking.budget_tokens ?? 0) >= Number(body.max_tokens))
    faults.push('budget over max');
  if (Number(body.temperature ?? 0) > 1) faults.push('temperature');
  return faults;
}

function chatFaults(body: Loose): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const message of objectsOf(body.messages)) {
    if (message.role === 'tool') {
      const id = String(message.tool_call_id);
      if (!open.includes(id)) faults.push(`a tool message without its call ${id}`);
      open = open.filter((each) => each !== id);
      if (typeof message.content !== 'string') faults.push('tool content');
      continue;
    }
    if (open.length > 0) faults.push(`calls without a result: ${open.join()}`);
    const calls = objectsOf(message.tool_calls);
    open = calls.map((call) => String(call.id));
    if (open.some((id) => id.length > 40)) faults.push('tool id');
    if (calls.some((call) => typeof objectOf(call.function).arguments !== 'string')) {
      faults.push('arguments');
    }
    if (message.content === null && message.role !== 'assistant') faults.push('null content');
    if (message.content === undefined) faults.push('no content');
  }
  for (const tool of objectsOf(body.tools)) {
    if (!isObject(objectOf(tool.function).parameters)) faults.push('parameters');
  }
  return faults;
}

function generativeFaults(body: Loose): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  for (const content of objectsOf(body.contents)) {
    if (content.role !== 'user' && content.role !== 'model') faults.push('role');
    const parts = objectsOf(content.parts);
    if (parts.length === 0) faults.push('no parts');
    const answered = parts.flatMap((part) => stringOf(objectOf(part.functionResponse).name) ?? []);
    if (open.length > 0 && answered.toSorted().join() !== open.toSorted().join()) {
      faults.push(`calls ${open.join()} answered by ${answered.join()}`);
    }
    open = parts.flatMap((part) => stringOf(objectOf(part.functionCall).name) ?? []);
    for (const part of parts) {
      const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];
      if (kinds.filter((kind) => part[kind] !== undefined).length !== 1) faults.push('part');
    }
  }
  return faults;
}

function responsesFaults(body: Loose): string[] {
  const faults: string[] = [];
  const items = objectsOf(body.input);
  const calls = items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  for (const item of items) {
    if (item.type === 'function_call_output' && !calls.includes(item.call_id)) {
      faults.push('an output without its call');
    }
    if (item.type === 'message' && objectsOf(item.content).length === 0) faults.push('content');
  }
  for (const tool of objectsOf(body.tools)) {
    if (typeof tool.strict !== 'boolean' || typeof tool.name !== 'string') faults.push('tool');
  }
  return faults;
}
