/**
 * Reads the generative stream: whole candidates in pieces, without a terminator but with a finish
 * reason.
 */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type {
  CanonicalEvent,
  ImageBlock,
  JsonObject,
  OpeningBlock,
  TextBlock,
} from '../canonical.ts';
import { exactJson } from '../exact-json.ts';
import { filledString, isObject, objectOf, objectsOf, stringOf } from '../json-kind.ts';
import { missingFile } from '../translate/answer-image.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { EventReader } from '../translate/stream-read.ts';
import {
  readGenerativeError,
  readGenerativeFailure,
  readGenerativeStop,
} from './translate-answer.ts';
import { createArguments, type GrowingArguments } from './translate-arguments.ts';
import { toMark } from './translate-content.ts';
import { camelKeys } from './translate-fields.ts';
import { toGenerativeUsage } from './usage.ts';

/** Members of a candidate that say where its text is from. */
const CITING: ReadonlySet<string> = new Set([
  'groundingMetadata',
  'groundingAttributions',
  'citationMetadata',
  'urlContextMetadata',
]);

/** Reads one stream. Calls without an id get a random one: it has to be unique across turns. */
export class GenerativeReader extends EventReader {
  #open: OpeningBlock['kind'] | undefined;
  #growing: GrowingArguments | undefined;
  /** The mark of the open call. */
  #mark: CanonicalEvent | undefined;
  #usage: Usage = emptyUsage;
  #finish: unknown;
  #why: string | undefined;
  #called = false;
  #blocked = false;

  protected override onInvalidEvent(): CanonicalEvent[] {
    return this.fail('The provider sent a chunk that is not JSON');
  }

  protected override close(): CanonicalEvent[] {
    const reason = this.#blocked ? 'refusal' : readGenerativeStop(this.#finish, this.#called);
    const why = reason === 'failed' || reason === 'refusal' ? this.#why : undefined;
    return [...this.#endBlock(), { type: 'stop', reason, why }, ...super.close()];
  }

  protected take(chunk: JsonObject): CanonicalEvent[] {
    if (isObject(chunk.error)) return this.failWith(readGenerativeError(200, chunk));
    const candidate = objectsOf(chunk.candidates).find((each) => (each.index ?? 0) === 0);
    const events = this.start(chunk.responseId, chunk.modelVersion);
    for (const part of objectsOf(objectOf(candidate?.content).parts)) {
      events.push(...this.#part(camelKeys(part)));
    }
    if (Object.keys(candidate ?? {}).some((name) => CITING.has(name)))
      this.context.note(droppedParts.citations);
    if (filledString(candidate?.finishReason) !== undefined) {
      this.#finish = candidate?.finishReason;
      this.#why = readGenerativeFailure(candidate);
    }
    const { blockReason, blockReasonMessage } = objectOf(chunk.promptFeedback);
    if (filledString(blockReason) !== undefined) {
      this.#blocked = true;
      this.#why = filledString(blockReasonMessage) ?? filledString(blockReason);
    }
    this.isStopped = this.#blocked || this.#finish !== undefined;
    if (isObject(chunk.usageMetadata)) {
      this.#usage = mergeUsage(this.#usage, toGenerativeUsage(chunk.usageMetadata));
      events.push({ type: 'usage', usage: this.#usage });
    }
    return events;
  }

  /** Code that the provider ran and its results are left out: the text contains the outcome. */
  #part(part: JsonObject): CanonicalEvent[] {
    if (isObject(part.functionCall)) return this.#call(part.functionCall, part);
    const text = stringOf(part.text);
    if (text === undefined) return this.#other(part);
    if (text === '') return [];
    const kind = part.thought === true ? 'thinking' : 'text';
    if (this.#open === kind) return [{ type: 'delta', text }];
    const block: OpeningBlock =
      kind === 'thinking' ? { kind, provider: 'generative' } : { kind: 'text' };
    return [...this.#endBlock(), ...this.#begin(block), { type: 'delta', text }];
  }

  #other(part: JsonObject): CanonicalEvent[] {
    const kind = Object.keys(part).find((name) => isObject(part[name]));
    if (kind === undefined) return [];
    // A draft of an image that follows.
    if (part.thought === true) {
      this.context.note(droppedParts.thinking);
      return [];
    }
    const { mimeType, data, fileUri } = camelKeys(objectOf(part[kind]));
    const mediaType = filledString(mimeType) ?? 'unknown';
    const isImage = mediaType.startsWith('image/');
    if (kind === 'inlineData' && isImage)
      return this.#whole({
        kind: 'image',
        source: { from: 'base64', mediaType, data: stringOf(data) ?? '' },
      });
    if (kind === 'fileData' && isImage)
      return this.#whole({ kind: 'image', source: { from: 'url', url: stringOf(fileUri) ?? '' } });
    if (kind === 'inlineData' || kind === 'fileData')
      return this.#whole(missingFile(mediaType, stringOf(data) ?? '', this.context.note));
    this.leaveOut(kind);
    return [];
  }

  #whole(block: ImageBlock | TextBlock): CanonicalEvent[] {
    const opening = block.kind === 'text' ? { kind: block.kind } : block;
    const text = block.kind === 'text' ? [{ type: 'delta' as const, text: block.text }] : [];
    return [...this.#endBlock(), ...this.#begin(opening), ...text, ...this.#endBlock()];
  }

  #begin(block: OpeningBlock): CanonicalEvent[] {
    this.#open = block.kind;
    return [{ type: 'blockStart', block }];
  }

  #endBlock(): CanonicalEvent[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    const text = this.#growing?.json();
    const mark = this.#mark;
    this.#growing = this.#mark = undefined;
    return [
      ...(text === undefined ? [] : [{ type: 'delta' as const, text }]),
      { type: 'blockStop' as const },
      ...(mark === undefined ? [] : [mark]),
    ];
  }

  /**
   * A call comes whole, or opens with its name and grows by pieces until one is not marked as
   * continuing.
   */
  #call(call: JsonObject, part: JsonObject): CanonicalEvent[] {
    const name = filledString(call.name);
    const continues = call.willContinue === true;
    const pieces = objectsOf(call.partialArgs);
    if (name === undefined) {
      for (const piece of pieces) this.#growing?.add(piece);
      return continues || this.#growing === undefined ? [] : this.#endBlock();
    }
    this.#called = true;
    const mark = filledString(part.thoughtSignature);
    const id = filledString(call.id) ?? `call_${this.context.ids()}`;
    const events = [...this.#endBlock(), ...this.#begin({ kind: 'toolUse', id, name })];
    if (mark !== undefined) this.#mark = { type: 'mark', callId: id, mark: toMark(mark) };
    if (!continues && pieces.length === 0) {
      return [...events, ...wholeInput(objectOf(call.args)), ...this.#endBlock()];
    }
    this.#growing = createArguments();
    for (const piece of pieces) this.#growing.add(piece);
    return continues ? events : [...events, ...this.#endBlock()];
  }
}

/** No delta for a call without arguments: deltas are never empty. */
function wholeInput(args: JsonObject): CanonicalEvent[] {
  return Object.keys(args).length === 0 ? [] : [{ type: 'delta', text: exactJson(args) }];
}

/** Counts are cumulative; a later chunk that omits one does not reset it. */
function mergeUsage(known: Usage, next: Usage): Usage {
  return {
    inputTokens: next.inputTokens ?? known.inputTokens,
    outputTokens: next.outputTokens ?? known.outputTokens,
    cacheReadTokens: next.cacheReadTokens ?? known.cacheReadTokens,
    cacheWriteTokens: null,
    cacheWrite1hTokens: null,
    reasoningTokens: next.reasoningTokens ?? known.reasoningTokens,
    estimated: false,
    ...((known.corrected ?? next.corrected) && { corrected: true }),
  };
}
