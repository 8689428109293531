/**
 * A `proxy.yaml` found in the current folder may have been written by someone else, so it is
 * applied on top of the user's own file with little trust: it may make the proxy stricter, never
 * looser, and may not change where requests go, what they carry, or what is kept of them.
 */
import { fault, type Fault } from './fault.ts';
import { mergeLayers, sameValue, type Entry, type Layer, type Provenance } from './layer.ts';

const CURE = 'if you trust the file, pass --config proxy.yaml';

/**
 * Returns the usable part of a found file on top of `own`, the user's file; any loosening becomes a
 * fault.
 */
export function withoutLoosening(found: Layer, own: Layer | undefined): Layer {
  const base = mergeLayers(own === undefined ? [] : [own]).values;
  const faults = found.entries.flatMap((entry): Fault[] => {
    if (entry.setting.loosens?.(entry.value, valueBefore(entry, base)) !== true) return [];
    const text =
      `${entry.spelled} may be made stricter, not looser, by a proxy.yaml that was merely found ` +
      `in the current folder; ${CURE}`;
    return [fault(entry, entry.spelled, text)];
  });
  return faults.length === 0 ? found : { ...found, faults: [...found.faults, ...faults] };
}

/**
 * Returns the effective changes of a found file as one line for the user; none if it changes
 * nothing.
 */
export function foundChanges(
  found: Layer,
  own: Layer | undefined,
  settled: ReadonlyMap<string, Provenance>,
): readonly string[] {
  const base = mergeLayers(own === undefined ? [] : [own]).values;
  const changes = found.entries.flatMap((entry) => {
    const now = settled.get(entry.concrete);
    const before = valueBefore(entry, base);
    if (now?.where !== entry.where || sameValue(now.value, before)) return [];
    return [`${entry.concrete} (${printable(before)} → ${printable(now.value)})`];
  });
  if (changes.length === 0) return [];
  return [`proxy.yaml in this folder changes ${changes.join(', ')}`];
}

function valueBefore(entry: Entry, base: ReadonlyMap<string, Provenance>): unknown {
  return base.get(entry.concrete)?.value ?? entry.setting.default;
}

/** A found file can set no secret, so neither can this value be one. */
function printable(value: unknown): string {
  if (value === null) return 'unset';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}
