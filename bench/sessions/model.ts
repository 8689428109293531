/**
 * The fake model of a recorded session: it turns the scripted agent's steps into calls of the
 * client's own tools, and counts input as the provider would, with a simulated prompt cache.
 */
import { randomInt } from '../../fixtures/random.ts';
import type { Random } from '../../fixtures/random.ts';
import { toolsOf } from '../../fixtures/clients/model.ts';
import type { Tool } from '../../fixtures/clients/model.ts';
import type { ReplySource, ReplyToolCall } from '../../fixtures/upstream.ts';
import { asArray, asObject } from '../../fixtures/upstream/reply.ts';
import type { JsonObject } from '../../fixtures/upstream/reply.ts';
import type { CountTokens } from '../../stages/model/count-tokens.ts';
import { createPromptCache } from '../../stages/prompt-cache/simulated.ts';
import type { Call, Step } from './agent.ts';
import type { SessionClock } from './clock.ts';

/** Range of a response's duration, including the client's tools. */
const ANSWER_MS = [3_000, 25_000] as const;

export interface ModelOptions {
  readonly steps: Iterator<Step, never>;
  readonly folder: string;
  readonly random: Random;
  readonly clock: SessionClock;
  readonly count: CountTokens;
}

/** Creates the model for one session. */
export function createModel({ steps, folder, random, clock, count }: ModelOptions): ReplySource {
  const cache = createPromptCache();
  let calls = 0;
  return (_, body) => {
    const tools = toolsOf(body);
    // Requests for titles and similar.
    if (tools.length === 0) return { deltas: ['A session'], toolCalls: [], stop: 'end' };
    const { read, written, plain } = cache.send({
      ...markedBlocks(body, count),
      atMs: clock.now(),
    });
    clock.advance(randomInt(random, ...ANSWER_MS));
    const { say, calls: wanted } = isCompaction(body) ? SUMMARY : steps.next().value;
    const toolCalls = wanted.map((call): ReplyToolCall => ({
      id: `step${++calls}`,
      ...toClientCall(call, tools, folder),
    }));
    const output = count(say + JSON.stringify(toolCalls));
    const usage = { input: plain, output, cacheRead: read, cacheWrite: written, reasoning: 0 };
    return { deltas: [say], toolCalls, stop: toolCalls.length > 0 ? 'tool' : 'end', usage };
  };
}

const SUMMARY: Step = {
  say: 'Some files were read and edited; the checks ran. Nothing is left open.',
  calls: [],
};

function isCompaction(body: JsonObject): boolean {
  const last = JSON.stringify(asArray(body['messages']).at(-1) ?? '').slice(-8000);
  return /detailed summary of (?:the|our) conversation/.test(last);
}

/** Returns the blocks of a request in caching order, and which of them are marked. */
function markedBlocks(body: JsonObject, count: CountTokens) {
  const messages = asArray(body['messages']).map(asObject);
  const parts = [body['tools'], body['system'], ...messages.map(({ content }) => content)].flatMap(
    (list) => (typeof list === 'string' ? [list] : asArray(list)),
  );
  const blocks = parts.map((part) => {
    const { cache_control: _, ...rest } = asObject(part);
    const text = typeof part === 'string' ? part : JSON.stringify(rest);
    return { text, tokens: count(text) };
  });
  const breakpoints = parts.flatMap((part, at) =>
    asObject(part)['cache_control'] === undefined ? [] : [at],
  );
  return { blocks, breakpoints };
}

/** Converts a call to one of `tools`; calls without a matching tool use the client's shell. */
function toClientCall(
  call: Call,
  tools: readonly Tool[],
  folder: string,
): Pick<ReplyToolCall, 'name' | 'input'> {
  const tool = tools.find(({ name }) => name.toLowerCase() === call.kind);
  if (tool === undefined) return toClientCall(toShellCall(call), tools, folder);
  const input: Record<string, unknown> = {};
  const put = (names: string, value: unknown): void => {
    const field = names.split(' ').find((name) => tool.fields.includes(name));
    if (field !== undefined && value !== undefined) input[field] = value;
  };
  if ('path' in call) put('file_path filePath path', `${folder}/${call.path}`);
  if ('pattern' in call) put('pattern', call.pattern);
  if (call.kind === 'grep') put('output_mode', 'content');
  if (call.kind === 'read') {
    put('offset', call.from);
    put('limit', call.count);
  } else if (call.kind === 'bash') {
    put('command', call.command);
    put('description', call.why);
  } else if (call.kind === 'edit') {
    put('old_string oldString', call.before);
    put('new_string newString', call.after);
  } else if (call.kind === 'write') put('content', call.text);
  return { name: tool.name, input };
}

function toShellCall(call: Call): Extract<Call, { kind: 'bash' }> {
  if (call.kind === 'grep')
    return {
      kind: 'bash',
      command: `grep -rn --exclude-dir=node_modules --exclude-dir=.git '${call.pattern}' . | head -100`,
      why: 'Search for the name',
    };
  if (call.kind !== 'glob') throw new Error(`the client has no tool to ${call.kind}`);
  const name = call.pattern.split('/').at(-1)!;
  return {
    kind: 'bash',
    command: `find . -name '${name}' -not -path './node_modules/*' | head -100`,
    why: 'List the sources',
  };
}
