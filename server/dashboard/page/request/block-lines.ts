/** The lines of one block before and after compression: removed, inserted in their place, kept. */
import { structuredPatch } from 'diff';
import type { LostJson } from '../../contract.ts';
import { counted } from '../../../words/counted.ts';

export type Block = LostJson['blocks'][number];

/** Longest time for the comparison; after that both texts are shown one after the other. */
const TIMEOUT_MS = 400;
/** Kept lines shown around a change, unless all are shown. */
const CONTEXT = 3;
const ALL = 1_000_000_000;

export interface Line {
  readonly kind: 'removed' | 'compressed' | 'kept' | 'gap';
  readonly text: string;
}

/**
 * Returns the lines of a block, with all kept lines if `isWhole`, else only those near a change.
 */
export function linesOf({ before, after }: Block, isWhole: boolean): readonly Line[] {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: isWhole ? ALL : CONTEXT,
    timeout: TIMEOUT_MS,
  });
  if (patch === undefined)
    return [
      ...before.split('\n').map((text) => ({ kind: 'removed' as const, text })),
      ...after.split('\n').map((text) => ({ kind: 'compressed' as const, text })),
    ];
  const total = before.split('\n').length;
  const lines: Line[] = [];
  let next = 1;
  const gap = (count: number): void => {
    if (count > 0) lines.push({ kind: 'gap', text: `${counted(count, 'line')} kept` });
  };
  for (const hunk of patch.hunks) {
    gap(hunk.oldStart - next);
    next = hunk.oldStart + hunk.oldLines;
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line.startsWith('-')) lines.push({ kind: 'removed', text });
      else if (line.startsWith('+')) lines.push({ kind: 'compressed', text });
      else if (!line.startsWith('\\')) lines.push({ kind: 'kept', text });
    }
  }
  gap(total - next + 1);
  return lines;
}

/** A received line and the line sent in its place; either may be missing. */
export interface Pair {
  readonly left: Line | undefined;
  readonly right: Line | undefined;
}

/** Arranges the lines side by side; kept lines are on both sides. */
export function pairsOf(lines: readonly Line[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let removed: Line[] = [];
  let compressed: Line[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, compressed.length); at += 1)
      pairs.push({ left: removed[at], right: compressed[at] });
    removed = [];
    compressed = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') removed.push(line);
    else if (line.kind === 'compressed') compressed.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

/** Returns true if a text contains `needle`, ignoring case; an empty needle matches every text. */
export function contains(text: string, needle: string): boolean {
  return text.toLowerCase().includes(needle.toLowerCase());
}
