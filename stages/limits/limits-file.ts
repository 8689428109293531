/**
 * What is known of limits, as it lies on disk: a proxy that starts again knows at once how far the plans
 * go, and at which pace. One JSON document, replaced whole; without it everything begins anew.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../engine/index.ts';
import { isObject, listOf, numberOf, objectOf, parseJson, stringOf } from '../dialect/json-kind.ts';
import { replaceFile } from '../private-file.ts';
import { createPlanLimits } from './plan-limits.ts';
import type { KnownWindow } from './plan-limits.ts';

/** Its name in the home folder. */
export const LIMITS_FILE = 'limits.json';

export interface LimitsFileOptions {
  /** Absolute path; its folder must exist. */
  readonly file: string;
  readonly clock: Clock;
  /** Hears of every failure to write; what is known then lasts as long as the process. */
  readonly onTrouble: (thrown: unknown) => void;
}

const FORMAT = 1;
/** So much of what is known may be lost with the process. */
const WRITE_AFTER_MS = 5000;

/** The limits with what an earlier process knew. Never rejects. */
export async function openPlanLimits({ file, clock, onTrouble }: LimitsFileOptions) {
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();
  const earlier = await readWindows(file);

  async function write(): Promise<void> {
    try {
      const document = JSON.stringify({ format: FORMAT, windows: planLimits.remembered() });
      await replaceFile(file, (draft) => draft.writeFile(document), { isDurable: false });
    } catch (thrown) {
      onTrouble(thrown);
    }
  }

  function writeNow(): void {
    stopTimer?.();
    stopTimer = undefined;
    writing = writing.then(write);
  }

  const planLimits = createPlanLimits(clock, earlier, () => {
    stopTimer ??= clock.after(WRITE_AFTER_MS, writeNow);
  });
  return {
    planLimits,
    /** Resolves when everything is in the file, or could not be written. */
    async flush(): Promise<void> {
      if (stopTimer !== undefined) writeNow();
      await writing;
    },
  };
}

async function readWindows(file: string): Promise<readonly KnownWindow[]> {
  try {
    const document = parseJson(await readFile(file, 'utf8'));
    if (!isObject(document) || document['format'] !== FORMAT) return [];
    return listOf(document['windows']).flatMap((one) => toWindow(one) ?? []);
  } catch {
    return [];
  }
}

/** Undefined for what svc does not write. */
function toWindow(value: unknown): KnownWindow | undefined {
  const { provider, key, window, samples, spared } = objectOf(value);
  const { kind, name, used, minutes, resetsAtMs, status } = objectOf(window);
  const [ofProvider, ofKey, named] = [stringOf(provider), stringOf(key), stringOf(name)];
  const share = numberOf(used);
  if (ofProvider === undefined || ofKey === undefined || named === undefined) return undefined;
  if ((kind !== 'plan' && kind !== 'rate') || share === undefined) return undefined;
  const read = listOf(samples).flatMap((sample) => {
    const [atMs, at] = [numberOf(objectOf(sample)['atMs']), numberOf(objectOf(sample)['used'])];
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
      minutes: numberOf(minutes),
      resetsAtMs: numberOf(resetsAtMs),
      status: stringOf(status),
    },
    samples: read,
    spared: { tokens: numberOf(tokens) ?? 0, requests: numberOf(requests) ?? 0 },
  };
}
