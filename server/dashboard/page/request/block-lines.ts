/** What one block was and became, line by line: removed, put in its place, kept. */
import { structuredPatch } from 'diff';
import type { LostJson } from '../../contract.ts';
import { counted } from '../../../words/counted.ts';

export type Block = LostJson['blocks'][number];

/** A comparison that takes longer is not worth waiting for: both texts are then shown one after the other. */
const PATIENCE_MS = 400;
/** Lines around a change where not all that was kept is shown. */
const CONTEXT = 3;
const ALL = 1_000_000_000;

export interface Line {
  readonly kind: 'removed' | 'compressed' | 'kept' | 'gap';
  readonly text: string;
}

/** The lines of a block, with all that was kept or with what is near to a change. */
export function linesOf({ before, after }: Block, isWhole: boolean): readonly Line[] {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: isWhole ? ALL : CONTEXT,
    timeout: PATIENCE_MS,
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

/** A line as it came, and the one that was sent in its place; one of them may be missing. */
export interface Pair {
  readonly left: Line | undefined;
  readonly right: Line | undefined;
}

/** The same lines side by side: what was kept is on both sides. */
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

/** Whether a text has `needle` in it, whatever its case; every text has an empty one. */
export function contains(text: string, needle: string): boolean {
  return text.toLowerCase().includes(needle.toLowerCase());
}
