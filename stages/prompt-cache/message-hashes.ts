/**
 * A hash of each message as sent. The messages that a request repeats from the one before are
 * found by comparison, which is faster than hashing; the hashes do not depend on it.
 */
import { hash as hashOnce } from 'node:crypto';
import { listOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import type { Block } from '../model/block.ts';
import { HASH_CHARS } from '../model/cached-turn.ts';
import { sharedBy } from '../model/block-history.ts';
import { textOf } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';

/** The hashed messages of the newest request of a conversation, for the next one. */
interface MessageHashes {
  messages: readonly HashedMessage[];
}

interface SentMessage {
  readonly blocks: readonly Block[];
  /** The texts of the blocks as sent. */
  readonly texts: readonly string[];
  readonly appended: string;
}

interface HashedMessage extends SentMessage {
  /** Its entry in `CachedTurn.messages`. */
  readonly entry: string;
}

const messageHashes = (): MessageHashes => ({ messages: [] });

/**
 * A longer value in a part without text, i.e. an image or a file, is represented by its size and
 * its ends.
 */
const LONG_CHARS = 4096;
const END_CHARS = 256;

/** Returns the 48-bit hash of a text. */
export function hashOf(text: string): string {
  return hashOnce('sha1', text, 'base64url').slice(0, HASH_CHARS);
}

/** Returns the index after the system prompt. */
export function leadingEnd(blocks: readonly Block[]): number {
  const end = blocks.findIndex(({ kind }) => kind !== 'system');
  return end < 0 ? blocks.length : end;
}

/** Returns `CachedTurn.messages`. */
export function hashMessages(request: ProxyRequest, json: JsonObject): string {
  const known = sharedBy(request.original.history, messageHashes);
  const all = request.original.blocks();
  const list = listOf(json['messages'] ?? json['input']);
  const hashed: HashedMessage[] = [];
  for (let at = leadingEnd(all); at < all.length;) {
    const before = known?.messages[hashed.length];
    const isKnown = before !== undefined && repeats(request, at, before);
    // The texts of this request are compared faster with those of the next one.
    const one =
      isKnown && before.blocks[0] === all[at]
        ? before
        : hashMessage(request, at, list, isKnown ? before.entry : undefined);
    hashed.push(one);
    at += one.blocks.length;
  }
  if (known !== undefined) known.messages = hashed;
  return hashed.map(({ entry }) => entry).join(',');
}

/** Returns true if the message that begins with the block at `from` is sent as `before`. */
function repeats(request: ProxyRequest, from: number, before: HashedMessage): boolean {
  const all = request.original.blocks();
  const { message } = all[from]!;
  const end = from + before.blocks.length;
  if (all[end - 1]?.message !== message || all[end]?.message === message) return false;
  if ((request.edits.appended.get(message) ?? '') !== before.appended) return false;
  for (let at = 0; at < before.blocks.length; at += 1) {
    const block = all[from + at]!;
    if (!isSameBlock(block, before.blocks[at]!)) return false;
    if (textOf(request, block) !== before.texts[at]) return false;
  }
  return true;
}

/** Hashes the message that begins with the block at `from`, unless its entry is known. */
function hashMessage(
  request: ProxyRequest,
  from: number,
  list: readonly unknown[],
  entry: string | undefined,
): HashedMessage {
  const all = request.original.blocks();
  const { message } = all[from]!;
  let end = from;
  while (end < all.length && all[end]!.message === message) end += 1;
  const blocks = all.slice(from, end);
  const texts = blocks.map((block) => textOf(request, block));
  const appended = request.edits.appended.get(message) ?? '';
  const sent = { blocks, texts, appended };
  return { ...sent, entry: entry ?? entryOf(sent, list) };
}

/** A block with more than text counts as another one: its other parts are not kept. */
function isSameBlock(one: Block, other: Block): boolean {
  if (one === other) return true;
  return (
    hasText(one) &&
    one.text === other.text &&
    one.role === other.role &&
    one.kind === other.kind &&
    one.toolUseId === other.toolUseId &&
    one.toolName === other.toolName &&
    (one.path === undefined) === (other.path === undefined)
  );
}

function entryOf({ blocks, texts, appended }: SentMessage, list: readonly unknown[]): string {
  const shape = blocks
    .map(({ role, kind, toolUseId, toolName }) => `${role}\0${kind}\0${toolUseId}\0${toolName}`)
    .join('\0');
  const more = blocks.every(hasText) ? '' : toShortText(list[blocks[0]!.message]);
  const hashWith = (text: string): string => hashOf(`${shape}\0${more}\0${text}`);
  const hash = hashWith(texts.join('\0') + appended);
  const isOurs = appended !== '' || texts.some((text, at) => text !== blocks[at]!.text);
  return isOurs ? `${hash}~${hashWith(blocks.map(({ text }) => text).join('\0'))}` : hash;
}

/** Returns false for a block that is sent with more than its text. */
function hasText({ path, kind }: Block): boolean {
  return path !== undefined || kind === 'tool_use';
}

/** Serializes to JSON without cache markers, and with long values represented by their size and their ends. */
function toShortText(value: unknown): string {
  const text = JSON.stringify(value, (name, member: unknown) => {
    if (name === 'cache_control') return undefined;
    if (typeof member !== 'string' || member.length <= LONG_CHARS) return member;
    return `${member.length}:${member.slice(0, END_CHARS)}:${member.slice(-END_CHARS)}`;
  }) as string | undefined;
  return text ?? '';
}
