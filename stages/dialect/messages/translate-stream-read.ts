/** Reads the messages stream: named events between `message_start` and `message_stop`. */
import { emptyUsage, type Usage } from '../../model/usage.ts';
import type { CanonicalEvent, JsonObject, OpeningBlock } from '../canonical.ts';
import { exactJson } from '../exact-json.ts';
import { filledString, objectOf, objectsOf, stringOf, wordOf } from '../json-kind.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { EventReader } from '../translate/stream-read.ts';
import { readMessagesError, readMessagesStop } from './translate-answer.ts';
import { mergeMessagesUsage } from './usage.ts';

/** Reads one stream. Blocks of the provider's own tools are skipped. */
export class MessagesReader extends EventReader {
  /** Blocks that were announced and may remain empty: they open at their first character. */
  readonly #pending = new Map<string, OpeningBlock>();
  #usage: Usage = emptyUsage;

  protected take(data: JsonObject): CanonicalEvent[] {
    const key = wordOf(data.index);
    switch (data.type) {
      case 'message_start':
        return this.#begin(objectOf(data.message));
      case 'content_block_start':
        return this.#open(key, objectOf(data.content_block));
      case 'content_block_delta':
        return this.#delta(key, objectOf(data.delta));
      case 'content_block_stop':
        this.#pending.delete(key);
        return this.serial.close(key);
      case 'message_delta':
        return this.#finish(data);
      case 'message_stop':
        return this.close();
      case 'error':
        return this.failWith(readMessagesError(200, data));
      case 'ping':
        return [{ type: 'ping' }];
      default:
        return [];
    }
  }

  #begin(message: JsonObject): CanonicalEvent[] {
    if (this.isStarted) return this.fail('The provider began a second message in one stream');
    this.#usage = mergeMessagesUsage(emptyUsage, objectOf(message.usage));
    return [...this.start(message.id, message.model), { type: 'usage', usage: this.#usage }];
  }

  #open(key: string, block: JsonObject): CanonicalEvent[] {
    switch (block.type) {
      case 'text':
        if (objectsOf(block.citations).length > 0) this.context.note(droppedParts.citations);
        this.#pending.set(key, { kind: 'text' });
        return this.#append(key, stringOf(block.text) ?? '');
      case 'thinking':
        this.#pending.set(key, { kind: 'thinking', provider: 'messages' });
        return this.#append(key, stringOf(block.thinking) ?? '');
      case 'tool_use':
        return this.#openTool(key, block);
      case 'redacted_thinking':
        return [];
      default:
        this.leaveOut(wordOf(block.type));
        return [];
    }
  }

  /** Most calls begin with an empty input and grow by deltas; some providers send it whole. */
  #openTool(key: string, block: JsonObject): CanonicalEvent[] {
    const id = stringOf(block.id) ?? '';
    const name = stringOf(block.name) ?? '';
    const whole = Object.keys(objectOf(block.input)).length > 0;
    return [
      ...this.serial.open(key, { kind: 'toolUse', id, name }),
      ...this.serial.delta(key, whole ? exactJson(block.input) : ''),
    ];
  }

  #append(key: string, text: string): CanonicalEvent[] {
    const opening = this.#pending.get(key);
    if (opening === undefined || text === '') return this.serial.delta(key, text);
    this.#pending.delete(key);
    return [...this.serial.open(key, opening), ...this.serial.delta(key, text)];
  }

  #delta(key: string, delta: JsonObject): CanonicalEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return this.#append(key, stringOf(delta.text) ?? '');
      case 'thinking_delta':
        return this.#append(key, stringOf(delta.thinking) ?? '');
      case 'input_json_delta':
        return this.serial.delta(key, stringOf(delta.partial_json) ?? '');
      case 'citations_delta':
        this.context.note(droppedParts.citations);
        return [];
      default:
        return [];
    }
  }

  #finish(data: JsonObject): CanonicalEvent[] {
    const delta = objectOf(data.delta);
    this.#usage = mergeMessagesUsage(this.#usage, objectOf(data.usage));
    const usage: CanonicalEvent = { type: 'usage', usage: this.#usage };
    if (typeof delta.stop_reason !== 'string') return [usage];
    this.isStopped = true;
    const reason = readMessagesStop(delta.stop_reason);
    const sequence = filledString(delta.stop_sequence);
    const why = filledString(objectOf(delta.stop_details).explanation);
    return [...this.serial.closeAll(), { type: 'stop', reason, sequence, why }, usage];
  }
}
