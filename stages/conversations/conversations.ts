/**
 * Conversations as the stages see them: the memory of each, how its blocks may be sent, and which
 * request continues which.
 *
 * A memory belongs to one caller, identified by the credentials in the request (`callerOf`), so
 * that no caller affects what another one sends. A refreshed or rotated credential is a new caller.
 * To keep a running conversation intact, the first request of a new caller gets a copy of the
 * memory of the same conversation under another credential, provided that the request proves it has
 * that conversation: it contains model responses and, after them, blocks known to that memory. If
 * two credentials alternate, tool results that only the other one sent are adopted: their calls
 * have random ids.
 */
import type { Clock } from '../../engine/index.ts';
import { isEditable } from '../model/block.ts';
import type { Block } from '../model/block.ts';
import type { Turn } from '../model/conversation.ts';
import type { NewValue, Original, ProxyRequest } from '../model/request.ts';
import { isEdited, textOf } from '../model/request.ts';
import type { CachedTurn } from '../model/cached-turn.ts';
import { createCachedTurns } from './cached-turns.ts';
import { createBlockHashes } from './block-hashes.ts';
import type { BlockHashes } from './block-hashes.ts';
import { endMark } from './end-mark.ts';
import { Memory } from './memory.ts';
import type { SharedState } from './memory.ts';
import { recordAsChange } from './record.ts';
import type { Change, ConversationRecord, SentMark } from './record.ts';
import { RAW, textHash, writeSent } from './sent-text.ts';
import { SendingRules, isThought, signsThoughts } from './sending-rules.ts';
import type { ConversationStore, StoreFigures } from './store.ts';
import { createTurns } from './turns.ts';

export interface ConversationsOptions {
  readonly store: ConversationStore;
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Version of the algorithms; results of another version cannot be reproduced. */
  readonly version: number;
}

/** Values computed for one request, each on first use. */
interface RequestState {
  hashes: BlockHashes | undefined;
  memory: Memory | undefined;
  sendingRules: SendingRules | undefined;
  /**
   * True once the file was checked for changes of other processes, which happens once per request.
   */
  isReady: boolean;
}

export type Conversations = ReturnType<typeof createConversations>;

export function createConversations({ store, clock, version }: ConversationsOptions) {
  const make = (): RequestState => ({
    hashes: undefined,
    memory: undefined,
    sendingRules: undefined,
    isReady: false,
  });
  const stateOf = (original: Original): RequestState => original.once(make);
  const openHashes = createBlockHashes();
  const hashesOf = (original: Original): BlockHashes =>
    (stateOf(original).hashes ??= openHashes(original));
  const kept: SharedState = { store, repeated: new Map() };
  const counts = { refusals: 0, dropped: new Map<string, number>() };
  /**
   * If false, nothing sent is remembered, so conversations with thinking blocks are left
   * unmodified.
   */
  let isRemembering = true;

  const open = (original: Original): Memory => {
    const hashes = hashesOf(original);
    const id = original.conversation();
    const beginning = original.beginning();
    const isCount = original.endpoint.operation !== 'generate';
    const others = store.others(id, beginning);
    let known = store.get(id);
    if (known === undefined) {
      const other = others.findLast((one) => continues(original, hashes, one));
      known = other && !isCount ? store.set(id, beginning, recordAsChange(other)) : other;
    }
    const memory = new Memory(original, known, isCount, kept);
    const missed = sentByOthers(original, hashes, memory.record, others);
    if (missed.length > 0) memory.set({ sent: missed });
    return memory;
  };
  const memoryOf = ({ original }: { readonly original: Original }): Memory =>
    (stateOf(original).memory ??= open(original));
  const openStanding = (original: Original): SendingRules => {
    const { pin, sent, isOlder } = memoryOf({ original }).record;
    // The same algorithms reproduce what an older version sent.
    const isTrusted = isOlder && pin?.version === version;
    const isClosed = !isRemembering && mayThink(original);
    return new SendingRules(original, hashesOf(original), { sent, isTrusted }, isClosed);
  };
  const sendingRules = ({ original }: { readonly original: Original }): SendingRules =>
    (stateOf(original).sendingRules ??= openStanding(original));
  const turns = createTurns(memoryOf, hashesOf, clock);

  const cachedTurns = createCachedTurns(function* () {
    for (const { id, cached } of store.records()) yield [id, cached] as const;
  });

  return {
    memoryOf,
    standing: sendingRules,
    /** Remembers what a turn left in the provider's cache; returns the turn before, if any. */
    noteCached: (request: ProxyRequest, turn: CachedTurn): CachedTurn | undefined =>
      cachedTurns.follow(turn, memoryOf(request).id, {
        runs: () => memoryOf(request).record.cached,
        set: (change) => memoryOf(request).set({ cached: [change] }),
      }),
    /**
     * Records the request as sent on the first call and classifies it; later calls return the same.
     */
    turnOf: (request: ProxyRequest): Turn => turns.turnOf(request),
    /**
     * Resolves once memories written by other processes are read; undefined if there is nothing to
     * read.
     */
    ready({ original }: ProxyRequest): Promise<void> | undefined {
      if (!mayThink(original)) return undefined;
      const one = stateOf(original);
      if (one.isReady || one.memory !== undefined) return undefined;
      one.isReady = true;
      return store.isBehind() ? store.catchUp() : undefined;
    },
    /**
     * Remembers the sent texts of `request`'s blocks if the model may sign a thinking block over
     * them. Resolves once they are on disk; undefined if there is nothing to wait for.
     */
    noteSent(request: ProxyRequest): Promise<void> | undefined {
      const { original } = request;
      if (original.endpoint.operation !== 'generate' || !mayThink(original)) return undefined;
      const memory = memoryOf(request);
      const { id, record } = memory;
      const isAlone = store.others(id, original.beginning()).length === 0;
      const isKnown = !isAlone || record.isOlder || (record.sent?.size ?? 0) > 0;
      // In a known conversation a block sent unmodified must be noted: otherwise its stored text is
      // repeated.
      if (!isRemembering && !isKnown) return undefined;
      const last = original.blocks().at(-1);
      const end = !isAlone && last && { blocks: last.index + 1, last: endMark(last) };
      const noted = changeOf(request, sendingRules(request), record, isAlone);
      const change = end ? { ...noted, end } : noted;
      if (change === undefined) return undefined;
      memory.set(change);
      return store.flush();
    },
    /**
     * The id of the provider key bound to the conversation's thinking blocks; undefined if none is.
     */
    keyOf(request: ProxyRequest, provider: string): string | undefined {
      const known = sendingRules(request).isBound
        ? memoryOf(request).record.keys.get(provider)
        : undefined;
      return known;
    },
    /**
     * Remembers the provider key if the model may think; returns false if bound thinking blocks had
     * another.
     */
    noteKey(request: ProxyRequest, provider: string, keyId: string): boolean {
      if (!isRemembering || !mayThink(request.original)) return true;
      const memory = memoryOf(request);
      const known = memory.record.keys.get(provider);
      if (known === keyId) return true;
      const { isBound } = sendingRules(request);
      // Either nothing is bound to a key yet, or from now on it is bound to this one.
      memory.set({ keys: [[provider, keyId]] });
      return known === undefined || !isBound;
    },
    /** The recipes stored under an id. */
    recipes: store.recipes,
    setRecipes: store.setRecipes,
    flush: store.flush,
    get figures(): StoreFigures {
      return store.figures;
    },
    /** Counts a provider's refusal of thinking blocks that do not match; they are then dropped. */
    noteRefusal(): void {
      counts.refusals += 1;
    },
    /** Adds the thinking blocks that a provider reports as dropped, by reason. */
    noteDropped(dropped: Readonly<Record<string, number>>): void {
      for (const [reason, count] of Object.entries(dropped))
        counts.dropped.set(reason, (counts.dropped.get(reason) ?? 0) + count);
    },
    /**
     * Since the start: requests refused because of thinking blocks, and blocks that providers
     * dropped, by reason.
     */
    get thoughts(): { readonly refusals: number; readonly dropped: ReadonlyMap<string, number> } {
      return counts;
    },
    /** Switches remembering of sent texts on or off, from now on. */
    remember(isOn: boolean): void {
      isRemembering = isOn;
    },
    get isRemembering() {
      return isRemembering;
    },
  };
}

/** Returns true if the model may think, in which case what is sent gets signed. */
function mayThink(original: Original): boolean {
  if (!signsThoughts(original)) return false;
  const { dialect, json, facts } = original;
  if (dialect.name === 'responses') return true;
  // Current models think unless told not to.
  return facts.hasThinking || !isThinkingOff(json);
}

function isThinkingOff(json: unknown): boolean {
  const thinking = (json as { readonly thinking?: unknown } | undefined)?.thinking;
  return (thinking as { readonly type?: unknown } | undefined)?.type === 'disabled';
}

/** Returns true if the request contains blocks known to the other memory after a model response. */
function continues(
  original: Original,
  hashes: BlockHashes,
  { pin, sent, id, beginning }: ConversationRecord,
): boolean {
  const blocks = original.blocks();
  const answered = blocks.findIndex(({ role }) => role === 'assistant');
  if (answered < 0) return false;
  // Written by an older version, which did not distinguish callers.
  if (id === beginning) return true;
  const mark = pin?.sent;
  const last = mark && blocks[mark.blocks - 1];
  if (mark !== undefined && last !== undefined && mark.blocks > answered)
    if (endMark(last) === mark.last) return true;
  if (sent === undefined || sent.size === 0) return false;
  const sendingRules = new SendingRules(original, hashes, { sent, isTrusted: false });
  return blocks.some(
    ({ index }) => index > answered && sendingRules.writtenOf(index) !== undefined,
  );
}

/**
 * Returns the texts of tool results, as key and stored text, that other credentials sent and a
 * thinking block was signed over: those unknown to this memory, and those that it recorded
 * differently.
 */
function sentByOthers(
  original: Original,
  hashes: BlockHashes,
  record: Readonly<ConversationRecord>,
  others: readonly ConversationRecord[],
): readonly (readonly [string, string])[] {
  if (others.length === 0) return [];
  const blocks = original.blocks();
  const own = new SendingRules(original, hashes, { sent: record.sent, isTrusted: false });
  const newest = others.toSorted((one, other) => one.atMs - other.atMs);
  const known = blocks.findLastIndex(({ index }) => own.writtenOf(index) !== undefined);
  const unsigned = rangeSentByOthers(blocks, record.end);
  const from = Math.min(known + 1, unsigned?.from ?? blocks.length);
  return blocks.slice(from, own.lastThought + 1).flatMap((block) => {
    const { index, toolUseId } = block;
    const isOpen = index > known || (unsigned !== undefined && index < unsigned.end);
    const key = toolUseId === undefined || !isOpen ? undefined : own.keyOf(index);
    const sent = key && newest.findLast((one) => one.sent?.has(key) === true)?.sent?.get(key);
    if (key === undefined || sent === undefined || sent === own.writtenOf(index)) return [];
    return [[key, sent] as const];
  });
}

/**
 * Returns the range of blocks that this caller sent with no thinking block after them, if the next
 * one answers a longer request than its last: then another caller sent that request, perhaps with
 * different texts.
 */
function rangeSentByOthers(
  blocks: readonly Block[],
  end: SentMark | undefined,
): { readonly from: number; readonly end: number } | undefined {
  const last = end && blocks[end.blocks - 1];
  if (end === undefined || last === undefined || endMark(last) !== end.last) return undefined;
  const thought = blocks.findIndex((block) => block.index >= end.blocks && isThought(block));
  if (thought < 0) return undefined;
  const { message } = blocks[thought]!;
  // A response starts where its request ended.
  if (blocks.findIndex((block) => block.message === message) === end.blocks) return undefined;
  const before = blocks.findLastIndex((block) => block.index < end.blocks && isThought(block));
  return { from: before + 1, end: end.blocks };
}

/** Returns what to store about the texts and tools sent; undefined if there is nothing new. */
function changeOf(
  request: ProxyRequest,
  sendingRules: SendingRules,
  { sent, isOlder, tools }: Readonly<ConversationRecord>,
  isAlone: boolean,
): Change | undefined {
  const { original } = request;
  const isKnown = !isAlone || (sent?.size ?? 0) > 0;
  // Most requests are sent as received, and nothing is stored about them.
  if (!isKnown && !isOlder && !isEdited(request)) return undefined;
  // Another caller may send the same block differently, which must not be adopted for this one.
  const writesRaw = !isAlone || (isKnown && sendingRules.isBound);
  const appended = appendedTo(request);
  const entries: (readonly [string, string])[] = [];
  for (const block of original.blocks()) {
    if (!isEditable(block)) continue;
    const { index, text } = block;
    const goesOut = textOf(request, block) + (appended.get(index) ?? '');
    if (goesOut === text && !isKnown) continue;
    const written = sendingRules.writtenOf(index);
    const isNoted =
      goesOut === text
        ? isKnownRaw(request, index, written, sendingRules, writesRaw)
        : sendingRules.wasSent(index, goesOut, written);
    if (!isNoted) entries.push([sendingRules.keyOf(index)!, writeSent(text, goesOut)]);
  }
  // From now on a block without an entry was sent unmodified.
  const isNew = entries.length > 0 || isOlder;
  const more = toolsOf(request, tools);
  if (!isNew && more.length === 0) return undefined;
  return { sent: entries, ...(more.length > 0 && { tools: more }) };
}

/** Returns the edits of the tools being sent, unless they are stored already. */
function toolsOf(
  { original, edits }: ProxyRequest,
  known: ConversationRecord['tools'],
): readonly (readonly [string, string])[] {
  const values = edits.values.filter(isToolEdit);
  if (values.length === 0) return [];
  const key = toolsKey(original);
  const written = JSON.stringify(values);
  return known.get(key) === written ? [] : [[key, written]];
}

/** Returns a hash that identifies the tools of a request. */
export function toolsKey({ json }: Original): string {
  return textHash(
    JSON.stringify((json as { readonly tools?: unknown } | undefined)?.tools ?? null),
  );
}

export const isToolEdit = ({ path }: NewValue): boolean => path[0] === 'tools';

/** Returns true if it need not be stored that a block is sent unmodified. */
function isKnownRaw(
  { original }: ProxyRequest,
  index: number,
  written: string | undefined,
  { lastThought }: SendingRules,
  writesRaw: boolean,
): boolean {
  if (written !== undefined) return written === RAW;
  // Before the last thinking block unmodified is the default; protected blocks never change later
  // either.
  if (!writesRaw || index < lastThought) return true;
  return original.protectedBy(index) !== undefined;
}

/** Returns the text appended to the last text block of a message, by block index. */
export function appendedTo({ original, edits }: ProxyRequest): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [message, text] of edits.appended) {
    const tail = original
      .blocks()
      .findLast((block) => block.message === message && block.kind === 'text' && block.path);
    if (tail !== undefined) found.set(tail.index, text);
  }
  return found;
}
