/** Reads the chat stream: chunks of deltas, a finish reason, a usage chunk, `[DONE]`. */
import type { CanonicalEvent, JsonObject } from '../canonical.ts';
import { filledString, isObject, numberOf, objectOf, objectsOf, stringOf } from '../json-kind.ts';
import { droppedParts } from '../translate/dropped-fields.ts';
import { sourceOf } from '../translate/media.ts';
import { EventReader } from '../translate/stream-read.ts';
import { readChatError, readChatStop } from './translate-answer.ts';
import { createReasoningDetails } from './reasoning-details.ts';
import { REASONING, toChatMark } from './translate-marks.ts';
import { readAnswerContent } from './translate-message.ts';
import { ChatCalls, isWhole, type GrowingCall } from './translate-stream-calls.ts';
import { toChatUsage } from './usage.ts';

/** Reads one stream. */
export class ChatReader extends EventReader {
  readonly #calls = new ChatCalls((id) => ({
    key: `block${this.#blocks++}`,
    id: id ?? `call_${this.context.ids()}`,
    name: '',
    input: '',
  }));
  #blocks = 0;
  /** Members of the message that the provider requires back with its calls, as far as received. */
  readonly #reasoning = new Map<string, string>();
  readonly #details = createReasoningDetails();
  /** The same for single calls, by their ids. */
  readonly #extra = new Map<string, unknown>();
  #prose: { readonly key: string; readonly kind: 'text' | 'thinking' | 'refusal' } | undefined;
  #called = false;

  protected override onInvalidEvent(data: string): CanonicalEvent[] {
    if (data.trim() === '[DONE]') return this.close();
    return this.fail('The provider sent a chunk that is not JSON');
  }

  protected take(chunk: JsonObject): CanonicalEvent[] {
    if (isFailure(chunk)) return this.failWith(readChatError(200, chunk));
    const choices = objectsOf(chunk.choices);
    const choice = choices.find((each) => (numberOf(each.index) ?? 0) === 0);
    const events = choices.length > 0 ? this.start(chunk.id, chunk.model, chunk.created) : [];
    if (choice !== undefined) {
      events.push(...this.#delta(objectOf(choice.delta ?? choice.message)));
      if (filledString(choice.finish_reason) !== undefined) {
        events.push(...this.#stop(choice.finish_reason));
      }
    }
    const usage = chunk.usage ?? objectOf(chunk.x_groq).usage;
    if (isObject(usage)) {
      events.push({ type: 'usage', usage: toChatUsage(usage) });
    }
    return events;
  }

  #delta(delta: JsonObject): CanonicalEvent[] {
    for (const name of REASONING) {
      const text = stringOf(delta[name]) ?? '';
      if (text !== '') this.#reasoning.set(name, (this.#reasoning.get(name) ?? '') + text);
    }
    const detailed = this.#details.add(delta.reasoning_details);
    const thinking = filledString(delta.reasoning_content) ?? filledString(delta.reasoning);
    const events = this.#emit('thinking', thinking ?? detailed);
    for (const block of isReadable(delta.content) ? readAnswerContent(delta.content) : []) {
      if (block.kind === 'text' || block.kind === 'thinking' || block.kind === 'refusal') {
        events.push(...this.#emit(block.kind, block.text));
      }
    }
    events.push(...this.#emit('text', stringOf(objectOf(delta.audio).transcript) ?? ''));
    events.push(...this.#emit('refusal', stringOf(delta.refusal) ?? ''));
    for (const image of objectsOf(delta.images)) events.push(...this.#image(image));
    if (filledString(objectOf(delta.audio).data) !== undefined)
      this.context.note(droppedParts.spoken);
    if (objectsOf(delta.annotations).length > 0) this.context.note(droppedParts.citations);
    events.push(...this.#call(objectsOf(delta.tool_calls)));
    const old = objectOf(delta.function_call);
    if (Object.keys(old).length > 0) events.push(...this.#call([{ index: -1, function: old }]));
    return events;
  }

  #emit(kind: 'text' | 'thinking' | 'refusal', text: string): CanonicalEvent[] {
    if (text === '') return [];
    const events: CanonicalEvent[] = [];
    if (this.#prose?.kind !== kind) {
      events.push(...this.#endProse(), ...this.#endFinishedCalls());
      this.#prose = { key: `block${this.#blocks++}`, kind };
      const opening = kind === 'thinking' ? { kind, provider: 'chat' as const } : { kind };
      events.push(...this.serial.open(this.#prose.key, opening));
    }
    events.push(...this.serial.delta(this.#prose.key, text));
    return events;
  }

  /** Aggregators send made images beside the text, as parts of a user's message have them. */
  #image(image: JsonObject): CanonicalEvent[] {
    const url = filledString(objectOf(image.image_url).url);
    if (url === undefined) return [];
    const key = `block${this.#blocks++}`;
    const events = [...this.#endProse(), ...this.#endFinishedCalls()];
    const opened = this.serial.open(key, { kind: 'image', source: sourceOf(url) });
    return [...events, ...opened, ...this.serial.close(key)];
  }

  #endProse(): CanonicalEvent[] {
    if (this.#prose === undefined) return [];
    const { key } = this.#prose;
    this.#prose = undefined;
    return this.serial.close(key);
  }

  /**
   * When something else begins, a call with whole arguments is finished; others may still grow out
   * of order.
   */
  #endFinishedCalls(): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    for (const call of this.#calls.all()) {
      if (this.serial.isOpen(call.key) && isWhole(call.input))
        events.push(...this.serial.close(call.key));
    }
    return events;
  }

  #call(parts: readonly JsonObject[]): CanonicalEvent[] {
    const events: CanonicalEvent[] = [];
    let at = 0;
    for (const { call, isNew, name, text } of this.#calls.assign(parts)) {
      const extra = parts[at++]?.extra_content;
      if (isObject(extra)) this.#extra.set(call.id, extra);
      if (isNew) events.push(...this.#endProse(), ...this.#endFinishedCalls());
      events.push(...this.#grow(call, name, text));
    }
    return events;
  }

  #grow(call: GrowingCall, name: string | undefined, text: string): CanonicalEvent[] {
    call.input += text;
    if (call.name !== '') return this.serial.delta(call.key, text);
    if (name === undefined) return [];
    call.name = name;
    this.#called = true;
    return [
      ...this.serial.open(call.key, { kind: 'toolUse', id: call.id, name }),
      ...this.serial.delta(call.key, call.input),
    ];
  }

  #stop(wire: unknown): CanonicalEvent[] {
    this.isStopped = true;
    this.#prose = undefined;
    const reason = readChatStop(wire, this.#called);
    return [...this.serial.closeAll(), ...this.#marks(), { type: 'stop', reason }];
  }

  #marks(): CanonicalEvent[] {
    const reasoning_details = this.#details.all();
    const reasoning = {
      ...Object.fromEntries(this.#reasoning),
      ...(reasoning_details.length > 0 && { reasoning_details }),
    };
    const hasReasoning = Object.keys(reasoning).length > 0;
    return this.#calls.all().flatMap(({ id, name }) => {
      const extra_content = this.#extra.get(id);
      if (name === '' || (!hasReasoning && extra_content === undefined)) return [];
      return { type: 'mark' as const, callId: id, mark: toChatMark(reasoning, extra_content) };
    });
  }

  protected override close(): CanonicalEvent[] {
    if (!this.isStarted) return this.fail('The provider sent no choice');
    const stop = this.isStopped ? [] : this.#stop(undefined);
    return [...stop, ...super.close()];
  }
}

function isFailure(chunk: JsonObject): boolean {
  return isObject(chunk.error) || (typeof chunk.error === 'string' && chunk.error !== '');
}

/** Content deltas are strings or lists of parts; servers send null with other fields. */
function isReadable(content: unknown): boolean {
  return typeof content === 'string' || Array.isArray(content);
}
