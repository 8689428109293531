/**
 * What the compressors know of recent conversations. One that keeps the state after a
 * conversation's blocks needs only the blocks that follow. Copying a long conversation to a thread,
 * and its outcomes back, takes longer than compressing the new blocks of a turn.
 */
import { LRUCache } from 'lru-cache';
import { isSameJson } from '../../dialect/same-json.ts';
import type { ConversationBlock } from '../pass/blocks.ts';
import { isUndecided, MAX_CONVERSATIONS } from './job.ts';
import type { CompressJob, JobOutcome, ThreadJob } from './job.ts';

/** Shorter conversations are copied and compressed just as fast as compared. */
const MIN_CHARS = 16 * 1024;
/** Characters of the conversations kept for comparison; most take a byte. */
const MAX_CHARS = 24 * 1024 * 1024;

/** A job whose state a thread keeps under a key. */
interface Kept {
  readonly key: number;
  readonly job: CompressJob;
  readonly outcomes: readonly JobOutcome[];
}

/** A job as sent to a thread. */
export interface Prepared {
  readonly sent: ThreadJob;
  /** Outcomes of the blocks before those that are sent. */
  readonly known: readonly JobOutcome[];
}

export class ContinuedJobs {
  readonly #kept = new LRUCache<string, Kept>({
    max: MAX_CONVERSATIONS,
    maxSize: MAX_CHARS,
    sizeCalculation: ({ job, outcomes }) => charsIn(job.blocks) + charsIn(outcomes),
  });
  #nextKey = 1;

  /**
   * Returns the blocks of `job` that the last job of its conversation did not have, or the whole
   * job if it does not continue that one. No other job can then continue the same one.
   */
  prepare(job: CompressJob): Prepared {
    const { conversation = '' } = job;
    const before = this.#kept.get(conversation);
    if (before === undefined || !continues(job, before.job)) return this.whole(job);
    this.#kept.delete(conversation);
    const blocks = job.blocks.slice(before.outcomes.length);
    const sent = { ...this.#newKey(), continues: before.key, blocks };
    return { sent, known: before.outcomes };
  }

  /** Returns the whole job, for a thread that does not have the state. */
  whole({ conversation, blocks, options }: CompressJob): Prepared {
    const isLong = conversation !== undefined && charsIn(blocks) >= MIN_CHARS;
    return { sent: { ...(isLong && this.#newKey()), options, blocks }, known: [] };
  }

  /** Notes the outcomes of the whole `job`, of which `sent` was the part that a thread did. */
  done(job: CompressJob, { key }: ThreadJob, outcomes: readonly JobOutcome[]): void {
    if (key === undefined || outcomes.some(isUndecided)) return;
    this.#kept.set(job.conversation!, { key, job, outcomes });
  }

  #newKey(): { readonly key: number } {
    return { key: this.#nextKey++ };
  }
}

function charsIn(list: readonly { readonly text: string | undefined }[]): number {
  let chars = 0;
  for (const { text = '' } of list) chars += text.length;
  return chars;
}

function continues(job: CompressJob, before: CompressJob): boolean {
  const { blocks } = before;
  if (!isSameJson(before.options, job.options)) return false;
  if (blocks.length > job.blocks.length) return false;
  // Texts that are added to a message may ask about the earlier texts in it.
  const [last, next] = [blocks.at(-1), job.blocks[blocks.length]];
  if (next?.message !== undefined && next.message === last?.message) return false;
  return blocks.every((block, at) => isSameBlock(block, job.blocks[at]!));
}

function isSameBlock(one: ConversationBlock, other: ConversationBlock): boolean {
  return one === other || (one.text === other.text && isSameJson(one, other));
}
