/** A value read from a file, with the position of each of its parts. */
import type { PackPath } from './check.ts';

export interface PlacedValue {
  readonly value: unknown;
  /** By `pathText`: the offsets of a value and of its name. */
  readonly values: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<string, number>;
  /** Names that are repeated in their object. */
  readonly repeated: readonly { readonly path: PackPath; readonly at: number }[];
}

/** Why a text could not be read, and the offset of the fault. */
export interface PlacedFault {
  readonly at: number;
  readonly reason: string;
}

/** Formats a path as `blocks[2].id`; names that are not words are quoted. */
export function pathText(path: PackPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}
