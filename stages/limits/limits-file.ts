/**
 * The known limits on disk: after a restart the proxy knows at once how much of the plans is left
 * and how fast it is used. One JSON document, replaced whole; without it the state starts empty.
 */
import { countOf, listOf, numberOf, objectOf, stringOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { createStateWriter, openState, readState } from '../state-file.ts';
import type { StateFileOptions } from '../state-file.ts';
import { createPlanLimits } from './plan-limits.ts';
import type { KnownWindow } from './plan-limits.ts';
import { plausibleMinutes, plausibleTime } from './pace.ts';

/** The file's name in the home folder. */
export const LIMITS_FILE = 'limits.json';

/** Opens the limits with what an earlier process knew. Never rejects. */
export async function openPlanLimits(options: StateFileOptions) {
  const earlier = toWindows(await openState(options), options.clock.wallMs());
  const writer = createStateWriter(options, () => ({
    windows: planLimits.remembered(),
  }));
  const planLimits = createPlanLimits(options.clock, earlier, () => writer.changed());
  return { planLimits, flush: () => writer.flush() };
}

/** Returns what the last process knew, and changes nothing. Throws if the file cannot be read. */
export async function readPlanLimits({ file, clock }: Pick<StateFileOptions, 'file' | 'clock'>) {
  return createPlanLimits(clock, toWindows(await readState(file), clock.wallMs()));
}

function toWindows({ windows }: JsonObject, nowMs: number): readonly KnownWindow[] {
  return listOf(windows).flatMap((one) => toWindow(one, nowMs) ?? []);
}

/** Undefined for anything that svc does not write. */
function toWindow(value: unknown, nowMs: number): KnownWindow | undefined {
  const { provider, key, window, samples, spared } = objectOf(value);
  const { kind, name, used, minutes, resetsAtMs, status } = objectOf(window);
  const [ofProvider, ofKey, named] = [stringOf(provider), stringOf(key), stringOf(name)];
  const share = numberOf(used);
  if (ofProvider === undefined || ofKey === undefined || named === undefined) return undefined;
  if ((kind !== 'plan' && kind !== 'rate') || share === undefined) return undefined;
  const read = listOf(samples).flatMap((sample) => {
    const [atMs, at] = [
      plausibleTime(numberOf(objectOf(sample)['atMs']), nowMs),
      numberOf(objectOf(sample)['used']),
    ];
    return atMs === undefined || at === undefined ? [] : [{ atMs, used: at }];
  });
  if (read.length === 0) return undefined;
  const { tokens, requests } = objectOf(spared);
  return {
    provider: ofProvider,
    key: ofKey,
    window: {
      kind,
      name: named,
      used: share,
      minutes: plausibleMinutes(numberOf(minutes)),
      resetsAtMs: plausibleTime(numberOf(resetsAtMs), nowMs),
      status: stringOf(status),
    },
    samples: read,
    spared: { tokens: countOf(tokens) ?? 0, requests: countOf(requests) ?? 0 },
  };
}
