/** A value read from a file, with the place of everything in it. */
import type { PackPath } from './check.ts';

export interface PlacedValue {
  readonly value: unknown;
  /** By `pathText`: the offset at which a value begins, and its name does. */
  readonly values: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<string, number>;
  /** Names that stand a second time in their object. */
  readonly repeated: readonly { readonly path: PackPath; readonly at: number }[];
}

/** Why a text could not be read, and the offset at which that shows. */
export interface PlacedFault {
  readonly at: number;
  readonly why: string;
}

/** `blocks[2].id`; names that are no words stand in quotes. */
export function pathText(path: PackPath): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}
