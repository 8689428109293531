/** Requests of the responses dialect (`POST /v1/responses`). */
import type { SvcError } from '../../../engine/index.ts';
import type { Block, JsonPath } from '../../model/block.ts';
import type { BlockHistory, ToolCall } from '../../model/block-history.ts';
import { createBlockList, isProgram } from '../block-list.ts';
import type { BlockHolder, BlockList } from '../block-list.ts';
import type { RequestFacts } from '../../model/dialect.ts';
import { isObject, listOf, parseJson, stringOf } from '../json-kind.ts';
import type { JsonObject } from '../json-kind.ts';
import { checkFields } from '../validation.ts';
import type { FieldRule } from '../validation.ts';

const FIELDS: readonly FieldRule[] = [
  { name: 'input', type: 'string or array' },
  { name: 'max_output_tokens', type: 'integer' },
  { name: 'stream', type: 'boolean' },
];

/** A stored prompt has its own model, so `model` is only required without one. */
export function validateResponses(body: unknown): SvcError | undefined {
  const isStored = isObject(body) && isObject(body['prompt']);
  return checkFields(body, [{ name: 'model', type: 'string', required: !isStored }, ...FIELDS]);
}

export function responsesFacts(body: unknown): RequestFacts {
  const fields = isObject(body) ? body : {};
  const limit = fields['max_output_tokens'];
  return Object.freeze({
    model: stringOf(fields['model']),
    stream: fields['stream'] === true,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    usageOption: 'unsaid',
    hasTools: listOf(fields['tools']).length > 0,
    hasThinking: isObject(fields['reasoning']),
  });
}

/**
 * Returns the instructions first, then the input items; an output with a list of parts is one block
 * per part.
 */
export function responsesBlocks(body: unknown, history?: BlockHistory): readonly Block[] {
  const list = createBlockList(history);
  if (!isObject(body)) return list.blocks();
  addContent(list, body, 'instructions', [], { message: -1, role: 'system', kind: 'system' });
  const input = body['input'];
  if (typeof input === 'string') {
    list.addText({ message: 0, role: 'user', kind: 'text' }, 'text', input, ['input']);
  }
  for (const [i, item] of listOf(input).entries()) {
    if (isObject(item)) list.addItem(item, () => readItem(list, item, i));
  }
  return list.blocks();
}

function readItem(list: BlockList, item: JsonObject, i: number): void {
  const path: JsonPath = ['input', i];
  switch (item['type'] ?? 'message') {
    case 'message':
      return addContent(list, item, 'content', path, messageHolder(item, i));
    case 'function_call':
      return addCall(list, item, 'arguments', i);
    case 'custom_tool_call':
      return addCall(list, item, 'input', i);
    case 'local_shell_call':
    case 'shell_call':
      return addOwnCall(list, item, 'shell', item['action'], i);
    case 'apply_patch_call':
      return addOwnCall(list, item, 'apply_patch', item['operation'], i);
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'computer_call_output':
    case 'apply_patch_call_output':
      return addOutput(list, item, path, resultHolder(list, item, i));
    case 'shell_call_output':
      return addShellOutput(list, item, path, resultHolder(list, item, i));
    case 'reasoning':
      return list.add({ message: i, role: 'assistant', kind: 'thinking' }, 'thinking');
    default:
      return list.add({ message: i, role: 'assistant', kind: 'other' }, 'other');
  }
}

function messageHolder(item: JsonObject, i: number): BlockHolder {
  const role = item['role'];
  if (role === 'system' || role === 'developer') {
    return { message: i, role: 'system', kind: 'system' };
  }
  return { message: i, role: role === 'assistant' ? 'assistant' : 'user', kind: 'text' };
}

function resultHolder(list: BlockList, item: JsonObject, i: number): BlockHolder {
  const toolUseId = stringOf(item['call_id']) ?? stringOf(item['id']);
  const called = list.callOf(toolUseId);
  const isOfProgram = called?.isOfProgram === true || isProgram(item['caller']);
  const call = isOfProgram ? { name: undefined, input: undefined, ...called, isOfProgram } : called;
  // A patch says by its status that it could not be applied.
  const isError = item['status'] === 'failed';
  return { message: i, role: 'tool', kind: 'tool_result', toolUseId, call, isError };
}

function addCall(list: BlockList, item: JsonObject, field: 'arguments' | 'input', i: number): void {
  const id = stringOf(item['call_id']);
  const text = stringOf(item[field]);
  const input = field === 'input' && text !== undefined ? JSON.stringify(text) : text;
  const call = { name: stringOf(item['name']), input, isOfProgram: isProgram(item['caller']) };
  if (id !== undefined) list.call(id, call);
  const holder: BlockHolder = { message: i, role: 'assistant', kind: 'tool_use', call };
  list.addText(holder, 'tool_use', text, ['input', i, field]);
}

/**
 * A call whose tool has its name from the provider; the output of a local shell names the item and
 * not the call.
 */
function addOwnCall(
  list: BlockList,
  item: JsonObject,
  name: string,
  toolInput: unknown,
  i: number,
) {
  const input = toolInput === undefined ? undefined : JSON.stringify(toolInput);
  const call = { name, input, isOfProgram: isProgram(item['caller']) };
  for (const id of [item['id'], item['call_id']]) if (typeof id === 'string') list.call(id, call);
  list.add({ message: i, role: 'assistant', kind: 'tool_use', call }, 'tool_use', undefined, input);
}

/** A result is counted even if it is empty, or neither text nor a list of parts. */
function addOutput(list: BlockList, item: JsonObject, path: JsonPath, holder: BlockHolder): void {
  const output = item['output'];
  if (typeof output !== 'string' && !listOf(output).some(isObject)) {
    return list.add(holder, 'tool_result');
  }
  addContent(list, item, 'output', path, holder);
}

/** What each command of a shell printed, with how it ended. */
function addShellOutput(
  list: BlockList,
  item: JsonObject,
  path: JsonPath,
  holder: BlockHolder,
): void {
  const runs = listOf(item['output']);
  if (!runs.some(isObject)) return addOutput(list, item, path, holder);
  for (const [j, run] of runs.entries()) {
    if (!isObject(run)) continue;
    const call = holder.call && ofCommand(holder.call, j, runs.length);
    const own: BlockHolder = { ...holder, call, isError: hasFailed(run['outcome']) };
    const streams = ['stdout', 'stderr'].filter((name) => run[name] !== '' || name === 'stdout');
    for (const name of streams)
      list.addText(own, 'tool_result', run[name], [...path, 'output', j, name]);
  }
}

function hasFailed(outcome: unknown): boolean {
  if (!isObject(outcome)) return false;
  return outcome['type'] !== 'exit' || outcome['exit_code'] !== 0;
}

/** Returns the call of one of several commands, where each has its output. */
function ofCommand(call: ToolCall, at: number, count: number): ToolCall {
  const action = parseJson(call.input ?? '');
  const commands = isObject(action) ? listOf(action['commands']) : [];
  if (commands.length !== count) return call;
  return { ...call, input: JSON.stringify({ command: commands[at] }) };
}

/** Adds the content of `field`: one string, or a list of parts. */
function addContent(
  list: BlockList,
  item: JsonObject,
  field: string,
  path: JsonPath,
  holder: BlockHolder,
): void {
  const content = item[field];
  if (typeof content === 'string') list.addText(holder, holder.kind, content, [...path, field]);
  for (const [j, part] of listOf(content).entries()) {
    if (isObject(part)) readPart(list, part, [...path, field, j], holder);
  }
}

function readPart(list: BlockList, part: JsonObject, path: JsonPath, holder: BlockHolder): void {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return list.addText(holder, holder.kind, part['text'], [...path, 'text'], part);
    case 'refusal':
      return list.addText(holder, holder.kind, part['refusal'], [...path, 'refusal'], part);
    case 'input_image':
      return list.add(holder, 'image', part);
    case 'input_file':
      return list.add(holder, 'document', part);
    default:
      return list.add(holder, 'other', part);
  }
}
