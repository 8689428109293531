/** The compress stage with services of its own, and requests to send through it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createCanceller, createManualClock, systemClock } from '../../engine/index.ts';
import { openDecisions } from '../decisions/decisions.ts';
import type { Decisions } from '../decisions/decisions.ts';
import { resolveEndpoint } from '../dialect/endpoints.ts';
import { dialects } from '../dialect/registry.ts';
import { openLearned } from '../learned/learned.ts';
import type { Learned } from '../learned/learned.ts';
import { createLostBlocks } from '../lost/lost-blocks.ts';
import type { BodyFrame } from '../model/body.ts';
import { render } from '../wire/render.ts';
import { toRequest } from '../model/request.ts';
import type { ProxyRequest } from '../model/request.ts';
import type { Services } from '../services.ts';
import { createCompressThread } from './worker/compress-thread.ts';
import type { CompressThread } from './worker/compress-thread.ts';
import type { CompressConfig } from './settings.ts';
import { compress } from './stage.ts';

export const COMPRESS_CONFIG: CompressConfig = {
  enabled: true,
  mode: 'hybrid',
  maxChars: 120,
  thresholdTokens: 100,
  logBudgetTokens: 3500,
  userProse: false,
  cacheEntries: 100,
  maxTimeMs: 5000,
};

/** A request as it is behind `parse`: `bytes` posted to `target`. Throws where the proxy has no such path. */
export function posted(
  target: string,
  bytes: Buffer,
  headers: readonly string[] = [],
  more: Partial<BodyFrame> = {},
): ProxyRequest {
  const endpoint = resolveEndpoint('POST', target, []);
  if (endpoint === undefined || 'allow' in endpoint) throw new Error(`no endpoint ${target}`);
  const json: unknown = JSON.parse(bytes.toString());
  const frame: BodyFrame = {
    kind: 'body',
    method: 'POST',
    target,
    headers,
    wireBytes: bytes,
    bytes,
    endpoint,
    ...more,
  };
  const dialect = dialects[endpoint.dialect];
  return toRequest({ body: frame, dialect, facts: dialect.facts(json, target), json });
}

/** A request of the messages dialect. */
export function requestOf(
  body: object,
  headers: readonly string[] = [],
  more: Partial<BodyFrame> = {},
): ProxyRequest {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 10, ...body }));
  return posted('/v1/messages', bytes, headers, more);
}

/** What would go upstream. */
export const textOf = (request: ProxyRequest): string => render(request).bytes.toString();

export interface StageBench {
  readonly decisions: Decisions;
  readonly compressor: CompressThread;
  readonly lost: ReturnType<typeof createLostBlocks>;
  readonly learned: Learned;
  readonly warnings: string[];
  /** What the stage noted in the trace since the bench was made; the newest of each name. */
  readonly notes: Map<string, unknown>;
  send(request: ProxyRequest, settings?: Partial<CompressConfig>): Promise<ProxyRequest>;
  /** Closes the compressor and ends what is being written; a folder that was made for it goes. */
  close(): Promise<void>;
}

/** A stage that remembers its decisions in `given`; in a folder of its own where that is absent. */
export async function createBench(
  compressor: CompressThread = createCompressThread({ cacheEntries: 100, clock: systemClock }),
  given?: string,
): Promise<StageBench> {
  const file = given ?? join(mkdtempSync(join(tmpdir(), 'svc-compress-')), 'decisions.jsonl');
  const decisions = await openDecisions({ file, clock: systemClock, onTrouble: () => undefined });
  const learned = await openLearned({
    file: join(dirname(file), 'learned.json'),
    clock: createManualClock(),
    onTrouble: () => undefined,
  });
  const lost = createLostBlocks();
  const warnings: string[] = [];
  const notes = new Map<string, unknown>();
  const services = {
    decisions,
    compressor,
    lost,
    learned,
    log: { warning: (message: string) => void warnings.push(message) },
  };
  return {
    decisions,
    compressor,
    lost,
    learned,
    warnings,
    notes,
    async send(request, settings = {}) {
      const merged = { ...COMPRESS_CONFIG, ...settings };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this stage uses these services only
      const { behaviour } = compress(merged, services as unknown as Services);
      if ('transform' in behaviour) throw new Error('not a handler');
      const run = {
        id: 'r1',
        clock: createManualClock(),
        startedMs: 0,
        startedWallMs: 0,
        signal: createCanceller().signal,
      };
      const ctx = {
        run,
        node: 'compress',
        needsEvents: false,
        state: undefined,
        note: (name: string, value: unknown) => void notes.set(name, value),
      };
      const result = await behaviour.on?.request?.({ kind: 'request', request }, ctx);
      if (result === undefined || !('kind' in result) || result.kind !== 'request') return request;
      return result.request;
    },
    async close() {
      await compressor.close();
      await Promise.all([decisions.flush(), learned.flush()]);
      if (given === undefined) rmSync(dirname(file), { recursive: true });
    },
  };
}
