/** One body through the real stage, and everything that must hold of what comes out. */
import { systemClock } from '../../../engine/index.ts';
import type { ProxyRequest } from '../../model/request.ts';
import { render } from '../../wire/render.ts';
import { createCompressThread } from '../worker/compress-thread.ts';
import type { CompressThread } from '../worker/compress-thread.ts';
import { changesOutside, openTexts, structureOf } from './untouched.corpus.ts';
import type { TextChecks, TextCounts } from './texts.corpus.ts';
import { toConversationBlocks } from '../conversation/blocks.ts';
import { isRewritable, textOf } from '../../model/request.ts';
import { createBench, posted } from '../stage-testing.ts';
import type { StageBench } from '../stage-testing.ts';
import type { CompressConfig } from '../settings.ts';

/** The ways in which a proxy can be set to work. */
export const MODES = ['off', 'strict', 'hybrid', 'aggressive'] as const;
export type ModeName = (typeof MODES)[number];

export function settingsOf(mode: ModeName, thresholdTokens: number): CompressConfig {
  return {
    enabled: mode !== 'off',
    mode: mode === 'off' ? 'aggressive' : mode,
    maxChars: 120,
    thresholdTokens,
    logBudgetTokens: 3500,
    userProse: false,
    cacheEntries: 2000,
    maxTimeMs: 0,
  };
}

/** What was looked at. */
export interface BodyCounts {
  bodies: number;
  changed: number;
  protectedBlocks: number;
  pairs: number;
  markers: number;
  twice: number;
}

export const noBodies = (): BodyCounts => ({
  bodies: 0,
  changed: 0,
  protectedBlocks: 0,
  pairs: 0,
  markers: 0,
  twice: 0,
});

/** Sends bodies through a stage. */
export interface Sender {
  readonly bench: StageBench;
  send(target: string, body: Buffer, session?: string): Promise<Sent>;
  close(): Promise<void>;
}

export interface Sent {
  readonly before: ProxyRequest;
  readonly after: ProxyRequest;
  readonly bytes: Buffer;
}

/** A proxy that has been started just now. A thread that is passed in outlives it. */
export async function startSender(
  settings: CompressConfig,
  file?: string,
  thread?: CompressThread,
): Promise<Sender> {
  const compressor = thread ?? newThread(settings.cacheEntries);
  const bench = await createBench(compressor, file);
  return {
    bench,
    async send(target, body, session) {
      const headers = session === undefined ? [] : ['session-id', session];
      const before = posted(target, body, headers);
      const after = await bench.send(before, settings);
      return { before, after, bytes: render(after).bytes };
    },
    close: () => (thread === undefined ? bench.close() : bench.decisions.flush()),
  };
}

export const newThread = (cacheEntries: number): CompressThread =>
  createCompressThread({ cacheEntries, clock: systemClock });

/** Faults beyond the texts that may be made smaller: every other byte must be as it came. */
export function bodyFaults({ before, bytes }: Sent, counts: BodyCounts): readonly string[] {
  const { body, dialect, json } = before.original;
  counts.bodies += 1;
  if (bytes.equals(body.bytes)) return [];
  counts.changed += 1;
  return changesOutside(
    body.bytes,
    bytes,
    isRewritable(before) ? openTexts(dialect.name, json) : [],
  );
}

/** The same read from what a provider parses: the order of calls and results, cache markers, protected blocks. */
export function structureFaults({ before, bytes }: Sent, counts: BodyCounts): readonly string[] {
  const { dialect, json } = before.original;
  const faults: string[] = [];
  const after: unknown = JSON.parse(bytes.toString());
  const [was, is] = [structureOf(json), structureOf(after)];
  counts.pairs += was.answered;
  counts.markers += was.markers.length;
  if (was.pairing.join('\n') !== is.pairing.join('\n'))
    faults.push('calls and results are other ones, or in another order');
  if (was.markers.join('\n') !== is.markers.join('\n')) faults.push('cache markers are other ones');
  const blocks = dialect.blocks(json);
  const left = dialect.blocks(after);
  if (blocks.length !== left.length) faults.push(`${blocks.length} blocks became ${left.length}`);
  for (const block of blocks) {
    if (before.original.protectedBy(block.index) === undefined) continue;
    counts.protectedBlocks += 1;
    if (left[block.index]?.text !== block.text)
      faults.push(`block ${block.index}, which is protected, has changed`);
  }
  return faults;
}

/** Requests of other dialects go out as they came. */
const isRewritten = (dialect: string): boolean =>
  ['messages', 'chat', 'responses'].includes(dialect);

/** Faults of each text that went out, and of the body sent through a proxy once more. */
export async function textFaults(
  { before, after, bytes }: Sent,
  settings: CompressConfig,
  again: Sender,
  checks: TextChecks,
  counts: { readonly bodies: BodyCounts; readonly texts: TextCounts },
): Promise<readonly string[]> {
  const { dialect } = before.original;
  if (!settings.enabled || !isRewritable(before) || !isRewritten(dialect.name)) return [];
  const blocks = before.original.blocks();
  const { mode, maxChars, thresholdTokens, logBudgetTokens } = settings;
  const faults = [
    ...checks.check(
      toConversationBlocks(before),
      { mode, maxChars, thresholdTokens, logBudgetTokens },
      (index) => textOf(after, blocks[index]!),
      counts.texts,
    ),
  ];
  if (bytes.equals(before.original.body.bytes)) return faults;
  counts.bodies.twice += 1;
  const { target } = before.original.body;
  const second = await again.send(target, bytes, 'again');
  if (second.bytes.equals(bytes)) return faults;
  const [once, twice] = [second.before.original.blocks(), second.after];
  const at = once.findIndex((block) => textOf(twice, block) !== block.text);
  return [...faults, `block ${at}: compressing it again changes it`];
}
