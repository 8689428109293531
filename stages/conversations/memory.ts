/** The memory of one request's conversation, read from the store and changed through it. */
import type { Original } from '../model/request.ts';
import { EMPTY_RECORD, applyChange, emptyRecord, recordAsChange } from './record.ts';
import type { Change, ConversationRecord, Injected } from './record.ts';
import type { ConversationStore } from './store.ts';

/** Maximum number of conversations whose `repeated` is known. */
const MAX_REPEATED = 10_000;

/** State shared by all memories. */
export interface SharedState {
  readonly store: ConversationStore;
  /** `Memory.repeated` by conversation id; lost with the process. */
  readonly repeated: Map<string, number>;
}

/** The memory of one request's conversation. */
export class Memory {
  readonly id: string;
  /** True if nothing was remembered before this request. */
  readonly isNew: boolean;
  /** Empty for a conversation that is not remembered yet. */
  record: Readonly<ConversationRecord>;
  readonly #beginning: string;
  readonly #isCount: boolean;
  readonly #kept: SharedState;

  constructor(
    original: Original,
    known: ConversationRecord | undefined,
    isCount: boolean,
    shared: SharedState,
  ) {
    this.id = original.conversation();
    this.isNew = known === undefined;
    this.record = known ?? EMPTY_RECORD;
    this.#beginning = original.beginning();
    this.#isCount = isCount;
    this.#kept = shared;
  }

  /**
   * Remembers `change`: in memory at once, on disk soon after. For a token count it is kept here
   * only.
   */
  set(change: Change): void {
    if (!this.#isCount) {
      this.record = this.#kept.store.set(this.id, this.#beginning, change);
      return;
    }
    // A token count must be treated like a turn.
    const copy = emptyRecord(this.id, this.#beginning, 0);
    applyChange(copy, recordAsChange(this.record));
    applyChange(copy, change);
    this.record = copy;
  }

  /** Resolves once everything set so far is on disk or has failed to be written. */
  flush(): Promise<void> {
    return this.#kept.store.flush();
  }

  /**
   * Returns what was injected into the question with this hash; null if it must no longer be sent.
   */
  injected(prefix: string): Injected | null | undefined {
    const { injected } = this.record;
    if (injected.has(prefix)) return injected.get(prefix);
    return this.#kept.store.olderInjected(prefix);
  }

  /** Leading blocks repeated as sent, since computing them again now gives a different result. */
  get repeated(): number {
    return this.#kept.repeated.get(this.id) ?? 0;
  }

  set repeated(blocks: number) {
    const { repeated } = this.#kept;
    repeated.delete(this.id);
    repeated.set(this.id, blocks);
    if (repeated.size > MAX_REPEATED) repeated.delete(repeated.keys().next().value!);
  }
}
