/** What a plugin adds to a request: the same requests through a proxy with it and one without, by turns. */
import { testPlugin } from '../../fixtures/kit.ts';
import type { KitOptions, PluginKit } from '../../fixtures/kit.ts';
import { percentile } from '../../stages/ledger/metrics.ts';

/** Milliseconds added to a request. Both are medians over the rounds. */
export interface AddedMs {
  readonly p50: number;
  readonly p95: number;
}

export interface PluginCost {
  readonly whole: AddedMs;
  readonly streamed: AddedMs;
}

const ROUNDS = 7;
const WARM_UP = 50;

export async function benchPlugin(
  module: string,
  options: KitOptions,
  requests: number,
  progress: (done: number, of: number) => void,
): Promise<PluginCost> {
  const withIt = await testPlugin(module, options);
  try {
    const { config: _config, ...rest } = options;
    const without = await testPlugin(undefined, rest);
    try {
      const total = 2 * ROUNDS;
      let done = 0;
      const measure = async (stream: boolean) => {
        const added = await addedBy({ withIt, without }, stream, requests, () => {
          done += 1;
          progress(done, total);
        });
        return added;
      };
      return { whole: await measure(false), streamed: await measure(true) };
    } finally {
      await without.close();
    }
  } finally {
    await withIt.close();
  }
}

interface Pair {
  readonly withIt: PluginKit;
  readonly without: PluginKit;
}

async function addedBy(
  { withIt, without }: Pair,
  stream: boolean,
  requests: number,
  onRound: () => void,
): Promise<AddedMs> {
  await timesOf(withIt, stream, WARM_UP);
  await timesOf(without, stream, WARM_UP);
  const rounds: AddedMs[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Whichever goes second finds a warmer machine: they take turns in that too.
    const order = round % 2 === 0 ? [withIt, without] : [without, withIt];
    const times = new Map<PluginKit, readonly number[]>();
    for (const kit of order) times.set(kit, await timesOf(kit, stream, requests));
    const [on, off] = [times.get(withIt) ?? [], times.get(without) ?? []];
    rounds.push({
      p50: quantile(on, 0.5) - quantile(off, 0.5),
      p95: quantile(on, 0.95) - quantile(off, 0.95),
    });
    onRound();
  }
  return {
    p50: quantile(
      rounds.map(({ p50 }) => p50),
      0.5,
    ),
    p95: quantile(
      rounds.map(({ p95 }) => p95),
      0.5,
    ),
  };
}

async function timesOf(kit: PluginKit, stream: boolean, count: number): Promise<number[]> {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(200);
  const messages = [{ role: 'user', content: text }];
  const body = { model: 'claude-sonnet-4-5', max_tokens: 100, stream, messages };
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const startedMs = performance.now();
    await kit.exchange({ body });
    times.push(performance.now() - startedMs);
  }
  return times;
}

function quantile(values: readonly number[], share: number): number {
  return percentile(Float64Array.from(values).toSorted(), share) ?? 0;
}
