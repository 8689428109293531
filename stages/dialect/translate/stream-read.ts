/** What the readers of all dialects' streams have in common. */
import type {
  CanonicalError,
  CanonicalEvent,
  JsonObject,
  StreamReader,
  WireEvent,
} from '../canonical.ts';
import type { AnswerContext } from './dialect.ts';
import { parseExact } from '../exact-json.ts';
import { isObject, numberOf, stringOf } from '../json-kind.ts';
import { BlockSerializer } from './block-serializer.ts';

/** Follows one stream; a dialect interprets each event. */
export abstract class EventReader implements StreamReader {
  protected readonly context: AnswerContext;
  protected readonly serial = new BlockSerializer();
  protected isStarted = false;
  /** True once the provider has said why the answer ends: what follows may be missing. */
  protected isStopped = false;
  #isOver = false;

  constructor(context: AnswerContext) {
    this.context = context;
  }

  read(event: WireEvent): readonly CanonicalEvent[] {
    if (this.#isOver) return [];
    const data = parseExact(event.data);
    return isObject(data) ? this.take(data) : this.onInvalidEvent(event.data);
  }

  end(): readonly CanonicalEvent[] {
    if (this.#isOver) return [];
    return this.isStopped ? this.close() : this.fail('The provider’s stream was cut off');
  }

  protected abstract take(data: JsonObject): CanonicalEvent[];

  /** Called for an event that is not an object. */
  protected onInvalidEvent(_data: string): CanonicalEvent[] {
    return this.fail('The provider sent an event that is not JSON');
  }

  /** Only the first start counts. */
  protected start(id: unknown, model: unknown, created?: unknown): CanonicalEvent[] {
    if (this.isStarted) return [];
    this.isStarted = true;
    const createdS = numberOf(created);
    return [{ type: 'start', id: stringOf(id) ?? '', model: stringOf(model) ?? '', createdS }];
  }

  protected close(): CanonicalEvent[] {
    this.#isOver = true;
    return [...this.serial.closeAll(), { type: 'end' }];
  }

  /** Notes a part of the answer that only its own provider reads, once for each kind. */
  protected leaveOut(kind: string): void {
    this.context.note(`${kind} in the answer left out: its result is in the adjacent text`);
  }

  protected fail(message: string): CanonicalEvent[] {
    return this.failWith({ kind: 'internal', message });
  }

  protected failWith(error: CanonicalError): CanonicalEvent[] {
    this.#isOver = true;
    return [{ type: 'error', error }];
  }
}
