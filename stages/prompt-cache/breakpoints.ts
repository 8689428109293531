/**
 * The positions for cache markers in a request of the messages dialect: at the end of its tools, of
 * its system prompt, of its newest message and of the newest message of the previous request.
 * Claude Code uses the same positions, and a request may have four at most.
 */
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { JsonPath } from '../model/block.ts';
import { CACHE_MARKER } from '../wire/render.ts';
import { estimateTokens } from '../model/tokens.ts';
import { contentOf } from './markers.ts';

/** Content types at which the provider accepts a marker. Thinking is not among them. */
const MARKABLE = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);
/** Members whose text does not reach the model as text. */
const OPAQUE = new Set(['data', 'signature']);

/**
 * Returns the positions for markers, in the order in which the model reads them: each the path of
 * an object, or of a string that has to become a text block to hold one. A position with fewer than
 * `minTokens` before it, by the fixed estimator, is left out: the provider would not cache there.
 */
export function breakpointsIn(body: JsonObject, minTokens: number): readonly JsonPath[] {
  const messages = listOf(body['messages']);
  const newest = newestFrom(messages, messages.length - 1);
  const before = newest === undefined ? undefined : lastOfTurnBefore(messages, newest.message);
  const read = createReader(minTokens);
  const breakpoints: JsonPath[] = [];
  const take = (path: JsonPath | undefined) => {
    if (path !== undefined && read.isEnough()) breakpoints.push(path);
  };
  read.add(body['tools']);
  take(lastTool(body['tools']));
  read.add(body['system']);
  take(lastOfSystem(body['system']));
  for (const [at, message] of messages.entries()) {
    read.add(contentOf(message));
    if (at === before?.message) take(before.path);
    if (at === newest?.message) take(newest.path);
  }
  return breakpoints;
}

/**
 * Returns the last tool that may hold a marker; the provider rejects one at a deferred tool, which
 * is not in the prefix.
 */
function lastTool(tools: unknown): JsonPath | undefined {
  const list = listOf(tools);
  const at = list.findLastIndex((tool) => isObject(tool) && tool['defer_loading'] !== true);
  return at < 0 ? undefined : ['tools', at];
}

function lastOfSystem(system: unknown): JsonPath | undefined {
  if (isText(system)) return ['system'];
  const list = listOf(system);
  const at = list.findLastIndex((part) => isMarkable(part));
  return at < 0 ? undefined : ['system', at];
}

interface Candidate {
  readonly message: number;
  readonly path: JsonPath;
}

/** Returns the last block that may hold a marker in a user message at or before index `from`. */
function newestFrom(messages: readonly unknown[], from: number): Candidate | undefined {
  for (let message = from; message >= 0; message -= 1) {
    const path =
      roleOf(messages[message]) === 'user' ? lastIn(messages[message], message) : undefined;
    if (path !== undefined) return { message, path };
  }
  return undefined;
}

/** Returns the same for the messages before the response that precedes message `newest`. */
function lastOfTurnBefore(messages: readonly unknown[], newest: number): Candidate | undefined {
  for (let at = newest - 1; at > 0; at -= 1) {
    if (roleOf(messages[at]) === 'assistant') return newestFrom(messages, at - 1);
  }
  return undefined;
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? message['role'] : undefined;
}

function lastIn(message: unknown, index: number): JsonPath | undefined {
  const content = contentOf(message);
  if (isText(content)) return ['messages', index, 'content'];
  const at = listOf(content).findLastIndex((part) => isMarkable(part));
  return at < 0 ? undefined : ['messages', index, 'content', at];
}

function isMarkable(part: unknown): boolean {
  if (!isObject(part) || !MARKABLE.has(String(part['type']))) return false;
  return part['type'] !== 'text' || isText(part['text']);
}

/** Returns true for text that can hold a marker; empty text cannot. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Counts the tokens the model reads, and stops once there are enough. */
function createReader(enough: number) {
  let tokens = 0;
  const add = (value: unknown): void => {
    if (tokens >= enough) return;
    if (typeof value === 'string') tokens += estimateTokens(value);
    else if (Array.isArray(value)) for (const item of value) add(item);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) if (!OPAQUE.has(name)) add(member);
    }
  };
  return { add, isEnough: () => tokens >= enough };
}

/**
 * Returns the body with a marker at each of `breakpoints` from `breakpointsIn`. Unaffected parts
 * are shared.
 */
export function withMarkers(body: JsonObject, breakpoints: readonly JsonPath[]): JsonObject {
  return breakpoints.reduce((marked, path) => markedAt(marked, path, 0) as JsonObject, body);
}

function markedAt(value: unknown, path: JsonPath, from: number): unknown {
  const step = path[from];
  if (step === undefined) {
    if (typeof value === 'string')
      return [{ type: 'text', text: value, cache_control: CACHE_MARKER }];
    return { ...(value as JsonObject), cache_control: CACHE_MARKER };
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, at) => (at === step ? markedAt(item, path, from + 1) : item));
  }
  const object = value as JsonObject;
  return { ...object, [step]: markedAt(object[step], path, from + 1) };
}
