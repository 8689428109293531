/**
 * The parts of a request that decide whether a provider finds its prefix in the cache, as hashes.
 * Cache markers, which clients move every turn, and the billing line of some clients are left out.
 */
import { isObject, listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { Block } from '../model/block.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { clientSession, isBillingBlock } from '../model/conversation.ts';
import { textOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import { someMarker } from './markers.ts';
import { promisedLifetimeMs } from './lifetime.ts';
import { hashMessages, hashOf, leadingEnd } from './message-hashes.ts';

/** Figures of the run besides its request. */
export type TurnFigures = Pick<
  CachedTurn,
  'request' | 'atMs' | 'doneMs' | 'provider' | 'model' | 'key' | 'total' | 'left' | 'read'
> & {
  /** True where the provider caches only marked prefixes. */
  readonly needsMarkers: boolean;
};

/** Characters of the system prompt per hash: the precision with which a change is located. */
const PIECE_CHARS = 2048;
/** Turns with more characters of message hashes are not compared. */
const MAX_CHARS = 64 * 1024;
/**
 * Returns the turn; undefined if the request does not show all that the model reads, or is too
 * long to compare.
 */
export function cachedTurnOf(request: ProxyRequest, figures: TurnFigures): CachedTurn | undefined {
  const { original, report } = request;
  const { dialect, json, body } = original;
  if (!isObject(json) || (json['previous_response_id'] ?? json['conversation'])) return undefined;
  const messages = hashMessages(request, json);
  if (messages.length > MAX_CHARS) return undefined;
  const blocks = original.blocks();
  const isMarked = (report.breakpoints ?? 0) > 0 || someMarker(json, () => true);
  const output = paramOf(request, json, 'output_config');
  const { effort = null, format = null } = isObject(output) ? output : {};
  return {
    // No spread: it would take a third of a microsecond.
    request: figures.request,
    atMs: figures.atMs,
    doneMs: figures.doneMs,
    provider: figures.provider,
    model: figures.model,
    key: figures.key,
    total: figures.total,
    left: figures.left,
    read: figures.read,
    session: hashOfValue(clientSession(body.headers)),
    lifetimeMs: promisedLifetimeMs(dialect.name, json, figures.model),
    markers: isMarked ? 'some' : figures.needsMarkers ? 'none' : 'automatic',
    blocks: 1 + blocks.findLastIndex(({ hasCacheControl }) => hasCacheControl === true),
    tier: hashOfParams(request, json, TIER),
    thinking: hashOfParams(request, json, THINKING) + hashOfValue(effort),
    choice: hashOfParams(request, json, CHOICE),
    format: hashOfParams(request, json, FORMAT) + hashOfValue(format),
    images: blocks.some(({ kind }) => kind === 'image'),
    tools: toolsOf(request, json),
    system: systemOf(blocks, request)
      .map(({ hash }) => hash)
      .join(''),
    messages,
    steps: [],
  };
}

const TIER = ['speed', 'service_tier'];
const THINKING = ['thinking', 'reasoning', 'reasoning_effort'];
const CHOICE = ['tool_choice', 'parallel_tool_calls'];
const FORMAT = ['response_format', 'text', 'output_format'];

/** Returns a member of the body as sent; null if absent. */
function paramOf({ edits }: ProxyRequest, json: JsonObject, name: string): unknown {
  return (edits.params.has(name) ? edits.params.get(name) : json[name]) ?? null;
}

/** Returns one hash of all these members; empty if none is present. */
function hashOfParams(request: ProxyRequest, json: JsonObject, names: readonly string[]): string {
  if (names.every((name) => paramOf(request, json, name) === null)) return '';
  return hashOf(JSON.stringify(names.map((name) => paramOf(request, json, name))));
}

function hashOfValue(value: unknown): string {
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
  return blocks.slice(0, leadingEnd(blocks)).filter((block) => !isBillingBlock(block));
}

/** Returns a tool's name, whatever dialect defines it. */
export function nameOfTool(tool: unknown): string {
  if (!isObject(tool)) return '';
  const inner = isObject(tool['function']) ? tool['function'] : tool;
  const name = inner['name'] ?? inner['type'];
  return typeof name === 'string' ? name : '';
}

function toolsOf({ edits }: ProxyRequest, json: JsonObject): string {
  const toolEdits = edits.values.filter(({ path }) => path[0] === 'tools');
  const list = listOf(json['tools']);
  return list
    .map((tool, at) => {
      const values = toolEdits.filter(({ path }) => path[1] === at);
      const edited = values.length === 0 ? '' : JSON.stringify(values);
      return hashOf(nameOfTool(tool)) + hashOf(toText(tool) + edited);
    })
    .join('');
}

/** Serializes to JSON without cache markers. */
function toText(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) =>
    name === 'cache_control' ? undefined : member,
  );
}
