/** What svc would have saved on the sessions in a folder: file by file, within a time, nothing written and nothing sent. */
import { setImmediate } from 'node:timers/promises';
import { SvcError } from '../../engine/index.ts';
import type { Clock } from '../../engine/index.ts';
import { createConversationCompressor } from '../../stages/compress/worker/conversation-compressor.ts';
import type { JobOptions } from '../../stages/compress/worker/job.ts';
import { reasonOf } from '../../stages/disk-reason.ts';
import type { Prices } from '../../stages/ledger/prices.ts';
import { loadTokenCounter, tokenizerFamily } from '../../stages/model/count-tokens.ts';
import { findSessions } from '../sessions/find.ts';
import type { SessionPath } from '../sessions/find.ts';
import { readSessionFile } from '../sessions/read-file.ts';
import type { Conversation } from '../sessions/session.ts';
import { estimateConversation } from './conversation.ts';
import type { Estimate } from './conversation.ts';
import { createSums } from './sums.ts';
import type { SessionGroup } from './sums.ts';

export interface EstimateJob {
  readonly folders: readonly string[];
  readonly options: JobOptions;
  readonly prices: Prices;
  readonly clock: Clock;
  /** After it no further file is begun. */
  readonly maxTimeMs: number;
  /** Called for each conversation besides being summed up; for who measures more. */
  readonly also?: (conversation: Conversation, estimate: Estimate) => void;
  readonly progress?: (progress: EstimateProgress) => void;
}

export interface EstimateProgress {
  readonly done: number;
  readonly total: number;
}

export interface EstimateReport {
  /** Files that hold sessions. */
  readonly files: number;
  /** Files that could not be read, and why. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
  /** Files that the time did not suffice for; the oldest. */
  readonly left: number;
  /** Lines that were passed over: no JSON, or too long. */
  readonly unreadLines: number;
  readonly groups: readonly SessionGroup[];
  /** Conversations of which the file holds system prompt and tools, and all. */
  readonly whole: number;
  readonly conversations: number;
}

/** Compressed texts that are kept for the next conversation with the same. */
const CACHE_ENTRIES = 200;

/** Reads the newest files first. Never rejects for a file: what cannot be read is named in the report. */
export async function estimateSessions(job: EstimateJob): Promise<EstimateReport> {
  const { clock } = job;
  const failed: { path: string; reason: string }[] = [];
  const fail = (path: string, thrown: unknown): void => {
    failed.push({ path, reason: thrown instanceof SvcError ? thrown.message : reasonOf(thrown) });
  };
  const paths = newestFirst(job.folders.flatMap((folder) => findSessions(folder, fail)));
  const endMs = clock.monotonicMs() + job.maxTimeMs;
  const play = createPlayer(job);
  const counts = { files: 0, left: 0, unreadLines: 0 };
  for (const [done, { path }] of paths.entries()) {
    if (clock.monotonicMs() > endMs) {
      counts.left = paths.length - done;
      break;
    }
    job.progress?.({ done, total: paths.length });
    try {
      for await (const { conversations, unread } of readSessionFile(path)) {
        counts.unreadLines += unread;
        for (const conversation of conversations) await play.take(conversation);
        // Signals and progress are looked at between files and sessions.
        await setImmediate();
      }
      counts.files += 1;
    } catch (thrown) {
      fail(path, thrown);
    }
  }
  return { ...counts, failed, ...play.end() };
}

function newestFirst(paths: readonly SessionPath[]): readonly SessionPath[] {
  const known = new Map(paths.map((one) => [one.path, one]));
  return [...known.values()].toSorted((a, b) => b.changedMs - a.changedMs);
}

function createPlayer({ options, prices, clock, also }: EstimateJob) {
  const counters = new Map<string, ReturnType<typeof loadTokenCounter>>();
  const known = {
    compressor: createConversationCompressor(CACHE_ENTRIES),
    options,
    prices,
    nowMs: clock.wallMs(),
    counterFor: (model: string) => {
      const family = tokenizerFamily(model);
      const counter = counters.get(family) ?? loadTokenCounter(family);
      counters.set(family, counter);
      return counter;
    },
  };
  const seen = new Set<string>();
  const sums = createSums();
  let [conversations, whole] = [0, 0];
  return {
    async take(conversation: Conversation): Promise<void> {
      const requests = conversation.requests.filter(({ id }) => id === undefined || !seen.has(id));
      if (requests.length === 0) return;
      for (const { id } of requests) if (id !== undefined) seen.add(id);
      const own = { ...conversation, requests };
      const estimate = await estimateConversation(own, known);
      conversations += 1;
      if (isWhole(conversation)) whole += 1;
      sums.add(own, estimate);
      also?.(own, estimate);
    },
    end: () => ({ groups: sums.groups(), conversations, whole }),
  };
}

function isWhole({ head, items }: Conversation): boolean {
  const names = ['system', 'instructions', 'systemInstruction'];
  const isItem = items.some((item) => typeof item === 'object' && item !== null && 'tools' in item);
  return (head['tools'] !== undefined || isItem) && (isItem || names.some((name) => name in head));
}
