/**
 * Reads the responses stream: typed events for items and their parts, ended by the whole response.
 */
import type { CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { wrapFreeform } from '../translate/freeform.ts';
import { isObject, numberOf, objectOf, objectsOf, stringOf, wordOf } from '../json-kind.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { EventReader } from '../translate/stream-read.ts';
import { readResponsesError, readResponsesStop } from './translate-answer.ts';
import { madeImage } from './translate-items.ts';
import { isClientSearch, searchInput, TOOL_SEARCH } from './translate-tools.ts';
import { toResponsesUsage } from './usage.ts';

/** Reads one stream. Items of the provider's own tools are skipped. */
export class ResponsesReader extends EventReader {
  /** Every opened block, and whether anything was written to it. */
  readonly #emitted = new Map<string, boolean>();
  #called = false;

  /** Only the event with the whole response ends this stream properly. */
  protected override onInvalidEvent(data: string): CanonicalEvent[] {
    return data.trim() === '[DONE]' ? [] : super.onInvalidEvent(data);
  }

  protected take(data: JsonObject): CanonicalEvent[] {
    switch (data.type) {
      case 'response.created':
      case 'response.in_progress':
        return this.#begin(objectOf(data.response));
      case 'response.output_item.added':
        return this.#openItem(data);
      case 'response.output_item.done':
        return this.#closeItem(data);
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOf(data.response));
      case 'response.failed':
      case 'error':
        return this.failWith(readResponsesError(200, data));
      default:
        return this.#part(data);
    }
  }

  #part(data: JsonObject): CanonicalEvent[] {
    switch (data.type) {
      case 'response.output_text.delta':
        return this.#emit(keyOf(data), { kind: 'text' }, data.delta);
      case 'response.output_text.done':
        return this.#emitOnce(keyOf(data), { kind: 'text' }, data.text);
      case 'response.refusal.delta':
        return this.#emit(keyOf(data), { kind: 'refusal' }, data.delta);
      case 'response.content_part.done':
        return this.#emitOnce(keyOf(data), { kind: 'refusal' }, objectOf(data.part).refusal);
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#emit(keyOf(data), { kind: 'thinking', provider: 'responses' }, data.delta);
      case 'response.function_call_arguments.delta':
        return this.#emit(itemKey(data), undefined, data.delta);
      case 'response.function_call_arguments.done':
        return this.#emitOnce(itemKey(data), undefined, data.arguments);
      default:
        return [];
    }
  }

  #begin({ id, model, created_at }: JsonObject): CanonicalEvent[] {
    return this.start(id, model, created_at);
  }

  /** Adds to a block, which opens at its first character. */
  #emit(key: string, opening: OpeningBlock | undefined, value: unknown): CanonicalEvent[] {
    const text = stringOf(value) ?? '';
    if (text === '') return [];
    const opened =
      this.#emitted.has(key) || opening === undefined ? [] : this.serial.open(key, opening);
    this.#emitted.set(key, true);
    return [...opened, ...this.serial.delta(key, text)];
  }

  /** The content repeated by a `done` event only counts if no delta came before it. */
  #emitOnce(key: string, opening: OpeningBlock | undefined, value: unknown): CanonicalEvent[] {
    return this.#emitted.get(key) === true ? [] : this.#emit(key, opening, value);
  }

  #openItem(data: JsonObject): CanonicalEvent[] {
    const item = objectOf(data.item);
    if (!isCall(item)) return [];
    this.#called = true;
    const key = itemKey(data);
    this.#emitted.set(key, false);
    const id = stringOf(item.call_id) ?? '';
    const name = isClientSearch(item) ? TOOL_SEARCH : (stringOf(item.name) ?? '');
    return this.serial.open(key, { kind: 'toolUse', id, name });
  }

  #closeItem(data: JsonObject): CanonicalEvent[] {
    const item = objectOf(data.item);
    const key = itemKey(data);
    const whole = wholeInput(item);
    if (!READ_ITEMS.has(item.type) && !isCall(item)) return this.#other(key, item);
    const cited = objectsOf(item.content).some(({ annotations: a }) => objectsOf(a).length > 0);
    if (cited) this.context.note(droppedParts.citations);
    const events = this.#emitted.has(key) ? this.#emitOnce(key, undefined, whole) : [];
    for (const opened of this.#emitted.keys()) {
      const belongsToItem = opened === key || opened.startsWith(`${key}:`);
      if (belongsToItem) events.push(...this.serial.close(opened));
    }
    return events;
  }

  /** A finished item of a tool that the provider ran: an image is kept. */
  #other(key: string, item: JsonObject): CanonicalEvent[] {
    const image = madeImage(item);
    if (image !== undefined) return [...this.serial.open(key, image), ...this.serial.close(key)];
    this.leaveOut(wordOf(item.type));
    return [];
  }

  #finish(response: JsonObject): CanonicalEvent[] {
    const { usage } = response;
    return [
      ...this.#begin(response),
      ...this.serial.closeAll(),
      { type: 'stop', reason: readResponsesStop(response, this.#called) },
      ...(isObject(usage) ? [{ type: 'usage' as const, usage: toResponsesUsage(usage) }] : []),
      ...this.close(),
    ];
  }
}

/** Items besides calls that are read from their own events. */
const READ_ITEMS: ReadonlySet<unknown> = new Set(['message', 'reasoning']);

function isCall(item: JsonObject): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call' || isClientSearch(item);
}

/** Returns a finished call's arguments as JSON text. */
function wholeInput(item: JsonObject): unknown {
  if (item.type === 'custom_tool_call') return wrapFreeform(stringOf(item.input) ?? '');
  return isClientSearch(item) ? searchInput(item) : item.arguments;
}

function itemKey(data: JsonObject): string {
  return wordOf(data.output_index);
}

/**
 * Parts of one item are distinguished by their index; summaries and texts of a reasoning item have
 * separate ones.
 */
function keyOf(data: JsonObject): string {
  const part = numberOf(data.content_index) ?? `s${numberOf(data.summary_index) ?? 0}`;
  return `${itemKey(data)}:${part}`;
}
