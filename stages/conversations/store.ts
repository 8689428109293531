/**
 * The memories of all conversations, held in this process. The least recently continued ones are
 * evicted first. `store-file.ts` keeps them in a file as well.
 */
import type { Clock } from '../../engine/index.ts';
import { applyChange, emptyRecord, recordAsChange, writeLine } from './record.ts';
import type { Change, ConversationRecord, Injected, Line } from './record.ts';

const DAY_MS = 86_400_000;
/** Sized so that a single conversation takes a third at most. */
const MAX_CHARS = 20 * 1024 * 1024;
const MAX_DAYS = 30;
const NONE: readonly ConversationRecord[] = [];

export interface StoreLimits {
  /** Maximum number of characters kept, counted as written to the file. */
  readonly maxChars?: number;
  /** Days after which a conversation that is not continued is dropped. */
  readonly maxDays?: number;
}

/** The size of the store. */
export interface StoreFigures {
  readonly conversations: number;
  /** Characters, counted as written to the file. */
  readonly chars: number;
}

/** A record with an estimate of its characters, at most about twice the real number. */
interface StoredRecord {
  readonly record: ConversationRecord;
  chars: number;
  /** Characters at the last exact count. */
  counted: number;
}

export type ConversationStore = ReturnType<typeof createStore>;

/** `write` appends a line, with its line end, to a file; by default there is none. */
export function createStore(
  clock: Pick<Clock, 'wallMs'>,
  { maxChars = MAX_CHARS, maxDays = MAX_DAYS }: StoreLimits = {},
  write: (text: string) => void = () => undefined,
) {
  const records = new Map<string, StoredRecord>();
  const recipes = new Map<string, string>();
  const olderInjected = new Map<string, Injected>();
  const byBeginning = new Map<string, Set<string>>();
  let chars = 0;

  const drop = (id: string): void => {
    const one = records.get(id);
    if (one === undefined) return;
    records.delete(id);
    chars -= one.chars;
    const { beginning } = one.record;
    const same = byBeginning.get(beginning);
    same?.delete(id);
    if (same?.size === 0) byBeginning.delete(beginning);
  };
  const shrink = (): void => {
    const oldestMs = clock.wallMs() - maxDays * DAY_MS;
    for (const [id, { record }] of records) {
      const isOld = record.atMs > 0 && record.atMs < oldestMs;
      if (!isOld && (chars <= maxChars || records.size <= 1)) break;
      drop(id);
    }
  };
  const count = (one: StoredRecord, more: number): void => {
    one.chars += more;
    chars += more;
    if (one.chars < 2 * one.counted + 4096) return;
    const exact = JSON.stringify(recordAsChange(one.record)).length;
    chars += exact - one.chars;
    one.chars = exact;
    one.counted = exact;
  };
  /**
   * Applies a line, from the file or this process, as the newest; `size` is its length in
   * characters.
   */
  const take = (line: Line, size: number): void => {
    if ('recipes' in line) {
      chars += line.set.length - (recipes.get(line.recipes)?.length ?? 0);
      recipes.set(line.recipes, line.set);
      return;
    }
    if ('prefix' in line) return void olderInjected.set(line.prefix, line.injected);
    const { id, beginning, atMs, change } = line;
    let one = records.get(id);
    if (one === undefined) {
      one = { record: emptyRecord(id, beginning, atMs), chars: 0, counted: 0 };
      const same = byBeginning.get(beginning);
      if (same === undefined) byBeginning.set(beginning, new Set([id]));
      else same.add(id);
    } else records.delete(id);
    records.set(id, one);
    one.record.atMs = Math.max(one.record.atMs, atMs);
    applyChange(one.record, change);
    count(one, size);
    shrink();
  };
  return {
    take,
    /** The record of a conversation; undefined if unknown. */
    get: (id: string): ConversationRecord | undefined => records.get(id)?.record,
    /** All records, least recently continued first. */
    records: (): Iterable<ConversationRecord> =>
      Array.from(records.values(), ({ record }) => record),
    /** Records of other callers with the beginning of conversation `id`, the last added last. */
    others(id: string, beginning: string): readonly ConversationRecord[] {
      const same = byBeginning.get(beginning);
      if (same === undefined || (same.size === 1 && same.has(id))) return NONE;
      return [...same].flatMap((one) => (one === id ? [] : (records.get(one)?.record ?? [])));
    },
    /** Remembers `change`: in memory at once, on disk with the next write. */
    set(id: string, beginning: string, change: Change): ConversationRecord {
      const line = { id, beginning, atMs: clock.wallMs(), change };
      const text = writeLine(line);
      take(line, text.length);
      write(text);
      return records.get(id)!.record;
    },
    recipes: (id: string): string | undefined => recipes.get(id),
    setRecipes: (id: string, set: string): void => {
      if (recipes.get(id) === set) return;
      const line = { recipes: id, set };
      take(line, set.length);
      write(writeLine(line));
    },
    /** An injection by an older version, by hash of the conversation up to its question. */
    olderInjected: (prefix: string): Injected | undefined => olderInjected.get(prefix),
    /** Everything kept, as lines, oldest records first. */
    *lines(): Iterable<Line> {
      for (const [id, set] of recipes) yield { recipes: id, set };
      for (const [prefix, injected] of olderInjected) yield { prefix, injected };
      for (const { record } of records.values()) {
        const { id, beginning, atMs } = record;
        yield { id, beginning, atMs, change: recordAsChange(record) };
      }
    },
    get figures(): StoreFigures {
      return { conversations: records.size, chars };
    },
    /** Resolves once everything set so far is on disk or has failed to be written. */
    flush: (): Promise<void> => Promise.resolve(),
    /** True if another process has written to the same file. */
    isBehind: (): boolean => false,
    /** Reads what another process has written. */
    catchUp: (): Promise<void> => Promise.resolve(),
  };
}
