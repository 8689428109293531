/**
 * Measures how long new source code takes in the compression thread: per language, in fresh threads
 * that have compressed other texts. Some are prepared, as in a proxy configured to compress code:
 * the first text of the language, then others. Some are not, as with `hybrid`, where a request asks
 * for it itself: the first text then also waits for the grammar.
 */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createCanceller, systemClock } from '../../engine/index.ts';
import { createCompressThread } from '../../stages/compress/worker/compress-thread.ts';
import type { CompressThread } from '../../stages/compress/worker/compress-thread.ts';
import type { ConversationBlock } from '../../stages/compress/pass/blocks.ts';
import type { Mode } from '../../stages/compress/rules/rule.ts';
import { estimateTokens } from '../../stages/model/tokens.ts';
import { median } from '../figures.ts';
import { codeFiles } from './samples.ts';

/** Milliseconds per 10,000 estimated tokens, for the files nearest to that size. */
export interface FirstSight {
  readonly extension: string;
  /** The first file; its fixed share is the same for short and long files. */
  readonly firstMs: number;
  /** The first file in a thread that was not prepared for code. */
  readonly unpreparedMs: number;
  /** Median of the files after it. */
  readonly nextMs: number;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly tokens: number;
}

const TOKENS = 10_000;
const FILES = 6;
/** Threads per language, one after another; the median counts. */
const THREADS = 3;
/** In a proxy the thread has long been ready when code arrives. */
const PREPARED_MS = 1000;
const SIGNAL = createCanceller().signal;
/** Long enough to be compressed in the thread. */
const OTHER = 'A line of prose that says nothing.\n'.repeat(1000);

/** Measures every language for which installed packages have enough files. */
export async function measureFirstSight(root: string): Promise<readonly FirstSight[]> {
  const byExtension = new Map<string, SourceFile[]>();
  for (const path of codeFiles(root, 60)) {
    const text = readFileSync(path, 'utf8');
    const extension = extname(path).slice(1);
    const files = byExtension.get(extension) ?? [];
    files.push({ path, text, tokens: estimateTokens(text) });
    byExtension.set(extension, files);
  }
  const results: FirstSight[] = [];
  for (const [extension, all] of byExtension) {
    const distance = ({ tokens }: SourceFile): number => Math.abs(Math.log(tokens / TOKENS));
    const files = all.toSorted((a, b) => distance(a) - distance(b)).slice(0, FILES);
    if (files.length < FILES) continue;
    const prepared: ThreadTimes[] = [];
    const unprepared: ThreadTimes[] = [];
    for (let n = 0; n < THREADS; n += 1) {
      prepared.push(await measureThread(files, true));
      unprepared.push(await measureThread(files, false));
    }
    results.push({
      extension,
      firstMs: median(prepared.map(({ firstMs }) => firstMs)),
      unpreparedMs: median(unprepared.map(({ firstMs }) => firstMs)),
      nextMs: median(prepared.map(({ nextMs }) => nextMs)),
    });
  }
  return results;
}

type ThreadTimes = Pick<FirstSight, 'firstMs' | 'nextMs'>;

async function measureThread(
  files: readonly SourceFile[],
  isPrepared: boolean,
): Promise<ThreadTimes> {
  const thread = createCompressThread({ cacheEntries: 0, clock: systemClock });
  try {
    thread.prepare({ mode: isPrepared ? 'aggressive' : 'hybrid', recipes: undefined });
    await timeOf(thread, 'hybrid', OTHER, 'notes.txt');
    await setTimeout(PREPARED_MS);
    const times: number[] = [];
    for (const { path, text } of files) times.push(await timeOf(thread, 'aggressive', text, path));
    const nextMs = median(times.slice(1).map((ms, i) => (ms * TOKENS) / files[i + 1]!.tokens));
    const missing = 1 - files[0]!.tokens / TOKENS;
    return { firstMs: times[0]! + missing * nextMs, nextMs };
  } finally {
    await thread.close();
  }
}

async function timeOf(
  thread: CompressThread,
  mode: Mode,
  text: string,
  path: string,
): Promise<number> {
  const block: ConversationBlock = {
    index: 0,
    role: 'user',
    kind: 'tool_result',
    text,
    toolName: 'Read',
    toolInput: { file_path: path },
  };
  const options = { mode, maxChars: 120, thresholdTokens: 0, logBudgetTokens: 3500 };
  const start = performance.now();
  const result = await thread.run({ blocks: [block], options }, 0, SIGNAL);
  if (!('outcomes' in result) || result.where !== 'thread') throw new Error('no thread did it');
  return performance.now() - start;
}
