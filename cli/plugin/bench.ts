/**
 * Measures what a plugin adds to a request: the same requests through a proxy with it and one
 * without, alternately.
 */
import { testPlugin } from '../../fixtures/kit.ts';
import type { KitOptions, PluginKit } from '../../fixtures/kit.ts';
import { percentile } from '../../stages/ledger/metrics.ts';

/**
 * A median over the rounds, in milliseconds, and the deviation that four of five rounds stay
 * within.
 */
export interface Measured {
  readonly ms: number;
  readonly plusMinusMs: number;
}

const ROUNDS = 7;
const WARM_UP = 50;

export async function benchPlugin(
  module: string,
  options: KitOptions,
  requests: number,
  progress: (done: number, of: number) => void,
) {
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

/** Returns the milliseconds added per request. */
async function addedBy(pair: Pair, stream: boolean, requests: number, onRound: () => void) {
  await timesOf(pair, stream, WARM_UP);
  const rounds: { p50: number; p95: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { on, off } = await timesOf(pair, stream, requests);
    rounds.push({
      p50: quantile(on, 0.5) - quantile(off, 0.5),
      p95: quantile(on, 0.95) - quantile(off, 0.95),
    });
    onRound();
  }
  return {
    p50: middleOf(rounds.map(({ p50 }) => p50)),
    p95: middleOf(rounds.map(({ p95 }) => p95)),
  };
}

/** Alternating, so that other load slows both; the order is swapped each time. */
async function timesOf(
  { withIt, without }: Pair,
  stream: boolean,
  count: number,
): Promise<{ on: readonly number[]; off: readonly number[] }> {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(200);
  const messages = [{ role: 'user', content: text }];
  const body = { model: 'claude-sonnet-4-5', max_tokens: 100, stream, messages };
  const [on, off]: [number[], number[]] = [[], []];
  const time = async (kit: PluginKit, times: number[]): Promise<void> => {
    const startedMs = performance.now();
    await kit.exchange({ body });
    times.push(performance.now() - startedMs);
  };
  for (let done = 0; done < count; done += 1) {
    if (done % 2 === 0) await time(withIt, on);
    await time(without, off);
    if (done % 2 === 1) await time(withIt, on);
  }
  return { on, off };
}

/** Returns the median of the rounds, and the deviation of most of them. */
function middleOf(rounds: readonly number[]): Measured {
  const ms = quantile(rounds, 0.5);
  return {
    ms,
    plusMinusMs: quantile(
      rounds.map((one) => Math.abs(one - ms)),
      0.8,
    ),
  };
}

function quantile(values: readonly number[], share: number): number {
  return percentile(Float64Array.from(values).toSorted(), share) ?? 0;
}
