/**
 * The parts of a request that decide whether a provider finds its prefix in the cache, as hashes. Cache
 * markers, which clients move every turn, and the billing line of some clients are left out.
 */
import { hash as hashOnce } from 'node:crypto';
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { Block } from '../model/block.ts';
import { HASH_CHARS } from '../model/cached-turn.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { clientSession, isBillingBlock } from '../model/conversation.ts';
import { factsOf } from '../model/model-facts.ts';
import { textOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { someMarker } from './markers.ts';
import { promisedLifetimeMs } from './lifetime.ts';

/** Figures of the run besides its request. */
export type TurnFigures = Pick<
  CachedTurn,
  'request' | 'atMs' | 'doneMs' | 'provider' | 'model' | 'key' | 'total' | 'left' | 'read'
> & {
  /** True where the provider caches only marked prefixes, whatever is known of the model. */
  readonly needsMarkers: boolean;
};

/** Characters of the system prompt per hash: the precision with which a change is located. */
const PIECE_CHARS = 2048;
/** Turns with more characters of message hashes are not compared. */
const MAX_CHARS = 64 * 1024;
/** A longer value in a part without text, i.e. an image or a file, is represented by its size and its ends. */
const LONG_CHARS = 4096;
const END_CHARS = 256;

/** Returns the turn; undefined where the request does not show all that the model reads, or is too long to compare. */
export function cachedTurnOf(request: ProxyRequest, figures: TurnFigures): CachedTurn | undefined {
  const { original, edits, report } = request;
  const { dialect, json, body } = original;
  if (!isObject(json) || (json['previous_response_id'] ?? json['conversation'])) return undefined;
  const param = (name: string): unknown =>
    edits.params.has(name) ? edits.params.get(name) : json[name];
  const hashOfParams = (...names: string[]): string => {
    const values = names.map((name) => param(name) ?? null);
    return values.every((value) => value === null) ? '' : hashOf(JSON.stringify(values));
  };
  const { needsMarkers, ...rest } = figures;
  const messages = messagesOf(request, json);
  if (messages.length > MAX_CHARS) return undefined;
  const isMarked = (report.breakpoints ?? 0) > 0 || someMarker(json, () => true);
  const isAutomatic = !needsMarkers && !factsOf(figures.model).isMarked;
  const output = param('output_config');
  const effort = isObject(output) ? (output['effort'] ?? null) : null;
  const hidden = isObject(output) ? (output['format'] ?? null) : null;
  return {
    ...rest,
    session: hashOfText(clientSession(body.headers)),
    lifetimeMs: promisedLifetimeMs(dialect.name, json, figures.model),
    markers: isMarked ? 'some' : isAutomatic ? 'automatic' : 'none',
    blocks: 1 + original.blocks().findLastIndex(({ hasCacheControl }) => hasCacheControl === true),
    tier: hashOfParams('speed', 'service_tier'),
    thinking:
      hashOfParams('thinking', 'reasoning', 'reasoning_effort') + hashOfText(effort ?? undefined),
    choice: hashOfParams('tool_choice', 'parallel_tool_calls'),
    format: hashOfParams('response_format', 'text', 'output_format') + hashOfText(hidden),
    images: original.blocks().some(({ kind }) => kind === 'image'),
    tools: toolsOf(request, json),
    system: systemOf(original.blocks(), request)
      .map(({ hash }) => hash)
      .join(''),
    messages,
    steps: [],
  };
}

function hashOf(text: string): string {
  return hashOnce('sha1', text, 'base64url').slice(0, HASH_CHARS);
}

function hashOfText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return hashOf(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A piece of the system prompt: its block and its first character. */
export interface SystemPiece {
  readonly hash: string;
  readonly block: number;
  readonly from: number;
}

/** Splits the system prompt, which some dialects put in the first messages, into pieces. */
export function systemOf(blocks: readonly Block[], request: ProxyRequest): readonly SystemPiece[] {
  return leadingSystem(blocks).flatMap((block, at) => {
    const text = textOf(request, block);
    return Array.from({ length: Math.max(1, Math.ceil(text.length / PIECE_CHARS)) }, (_, piece) => {
      const from = piece * PIECE_CHARS;
      return { hash: hashOf(text.slice(from, from + PIECE_CHARS)), block: at, from };
    });
  });
}

function leadingSystem(blocks: readonly Block[]): readonly Block[] {
  const end = blocks.findIndex(({ kind }) => kind !== 'system');
  const system = end < 0 ? blocks : blocks.slice(0, end);
  return system.filter((block) => !isBillingBlock(block));
}

/** Returns a tool's name, whatever dialect defines it. */
export function nameOfTool(tool: unknown): string {
  if (!isObject(tool)) return '';
  const inner = isObject(tool['function']) ? tool['function'] : tool;
  const name = inner['name'] ?? inner['type'];
  return typeof name === 'string' ? name : '';
}

function toolsOf({ edits }: ProxyRequest, json: JsonObject): string {
  const ours = edits.values.filter(({ path }) => path[0] === 'tools');
  const list = listOf(json['tools']);
  return list
    .map((tool, at) => {
      const values = ours.filter(({ path }) => path[1] === at);
      const edited = values.length === 0 ? '' : JSON.stringify(values);
      return hashOf(nameOfTool(tool)) + hashOf(toText(tool) + edited);
    })
    .join('');
}

/** Returns a hash for each message after the system prompt, of its blocks as sent. */
function messagesOf(request: ProxyRequest, json: JsonObject): string {
  const { original, edits } = request;
  const blocks = original.blocks();
  const list = listOf(json['messages'] ?? json['input']);
  const entries: string[] = [];
  for (let at = leadingEnd(blocks); at < blocks.length;) {
    const { message } = blocks[at]!;
    const end = endOf(blocks, at);
    const own = blocks.slice(at, end);
    at = end;
    const shape = own
      .map(({ role, kind, toolUseId, toolName }) => `${role}\0${kind}\0${toolUseId}\0${toolName}`)
      .join('\0');
    const more = own.every(hasText) ? '' : toShortText(list[message]);
    const appended = edits.appended.get(message) ?? '';
    const isOurs = appended !== '' || own.some(({ index }) => edits.texts.has(index));
    const sent = own.map((block) => textOf(request, block)).join('\0');
    const hash = hashOf(`${shape}\0${more}\0${sent}${appended}`);
    if (!isOurs) entries.push(hash);
    else {
      const came = own.map(({ text }) => text).join('\0');
      entries.push(`${hash}~${hashOf(`${shape}\0${more}\0${came}`)}`);
    }
  }
  return entries.join(',');
}

function leadingEnd(blocks: readonly Block[]): number {
  const end = blocks.findIndex(({ kind }) => kind !== 'system');
  return end < 0 ? blocks.length : end;
}

function endOf(blocks: readonly Block[], from: number): number {
  const { message } = blocks[from]!;
  let end = from + 1;
  while (end < blocks.length && blocks[end]!.message === message) end += 1;
  return end;
}

/** Returns false for a block that is sent with more than its text. */
function hasText({ path, kind }: Block): boolean {
  return path !== undefined || kind === 'tool_use';
}

/** Serializes to JSON without cache markers. */
function toText(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) =>
    name === 'cache_control' ? undefined : member,
  );
}

/** Does the same with long values represented by their size and their ends. */
function toShortText(value: unknown): string {
  const text = JSON.stringify(value, (name, member: unknown) => {
    if (name === 'cache_control') return undefined;
    if (typeof member !== 'string' || member.length <= LONG_CHARS) return member;
    return `${member.length}:${member.slice(0, END_CHARS)}:${member.slice(-END_CHARS)}`;
  }) as string | undefined;
  return text ?? '';
}
